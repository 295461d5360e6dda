package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	both   = "application/json, text/event-stream"
	modern = "2026-07-28"
)

// request returns a POST of a message. headers alternate between names and values. An empty value
// removes a header.
func request(ctx context.Context, body string, headers ...string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, "POST", "/mcp", strings.NewReader(body))
	r.Header.Set("Accept", both)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		for value := range strings.SplitSeq(headers[i+1], "|") {
			if value != "" {
				r.Header.Add(headers[i], value)
			}
		}
	}
	return r
}

// post sends a message and returns the whole response.
func post(s http.Handler, body string, headers ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request(context.Background(), body, headers...))
	return w
}

func rpc(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`
}

// TestHTTPAnswers checks the status and the answer of each message over HTTP.
func TestHTTPAnswers(t *testing.T) {
	t.Parallel()
	call := rpc("tools/call", `"name":"text","arguments":{"text":"x"}`)
	modernCall := rpc("tools/call", `"name":"text","arguments":{"text":"x"},`+meta)
	version := func(headers ...string) []string { return append([]string{"MCP-Protocol-Version", modern}, headers...) }
	called := version("Mcp-Method", "tools/call", "Mcp-Name", "text")
	for name, c := range map[string]struct {
		body    string
		headers []string
		status  int
		want    string
	}{
		"a call without initialize":            {call, nil, 200, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"text\":\"x\"}"}],"structuredContent":{"text":"x"}}}`},
		"a call of an unknown session":         {call, []string{"Mcp-Session-Id", "nope", "MCP-Protocol-Version", "2025-11-25"}, 200, `"structuredContent":{"text":"x"}`},
		"ping":                                 {rpc("ping", ""), nil, 200, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		"a list":                               {rpc("tools/list", ""), nil, 200, `"tools":[{"name":"text","description":"Return it.","inputSchema":{"type":"object"}}]`},
		"an unknown method":                    {rpc("nope", ""), nil, 200, `"code":-32601`},
		"an unknown tool":                      {rpc("tools/call", `"name":"nope"`), nil, 200, `"code":-32602,"message":"Unknown tool: nope`},
		"a notification":                       {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, ""},
		"an unknown notification":              {`{"jsonrpc":"2.0","method":"nope"}`, nil, 202, ""},
		"a malformed notification":             {`{"jsonrpc":"2.0","method":"nope","params":3}`, nil, 400, `{"jsonrpc":"2.0","error":{"code":-32602`},
		"a response":                           {`{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 202, ""},
		"an error of the client":               {`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, nil, 202, ""},
		"no JSON":                              {`{"x`, nil, 400, `{"jsonrpc":"2.0","error":{"code":-32700`},
		"nothing":                              {` `, nil, 400, `"code":-32700`},
		"no request":                           {`{"id":1,"method":"ping"}`, nil, 400, `"id":1,"error":{"code":-32600`},
		"an id of null":                        {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, 400, `"code":-32600`},
		"a batch":                              {`[` + call + `]`, nil, 400, `"code":-32600`},
		"a byte order mark":                    {"\ufeff" + call, nil, 200, `"structuredContent"`},
		"several lines":                        {strings.ReplaceAll(call, ",", ",\r\n"), nil, 200, `{\"text\":\"x\"}`},
		"a version without initialize":         {rpc("tools/list", ""), []string{"MCP-Protocol-Version", "2024-11-05"}, 200, `"tools"`},
		"an unknown version":                   {rpc("ping", ""), []string{"MCP-Protocol-Version", "1900-01-01"}, 400, `"error":{"code":-32022,"message":"Unsupported protocol version","data":{"requested":"1900-01-01","supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]}}`},
		"an unknown version of a notification": {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, []string{"MCP-Protocol-Version", "x"}, 400, `"code":-32022`},
		"discover without a version":           {rpc("server/discover", ""), nil, 400, `"code":-32602`},

		"a modern call":                   {modernCall, called, 200, `"resultType":"complete","content":`},
		"a modern list":                   {rpc("tools/list", meta), version("Mcp-Method", "tools/list"), 200, `"ttlMs":0,"cacheScope":"private"`},
		"discover":                        {rpc("server/discover", meta), version("Mcp-Method", "server/discover"), 200, `"capabilities":{"tools":{"listChanged":true}}`},
		"a modern call of a session":      {modernCall, append(called, "Mcp-Session-Id", "x"), 200, `"structuredContent"`},
		"a name in Base64":                {modernCall, append(called, "Mcp-Name", "=?base64?dGV4dA==?="), 200, `"structuredContent"`},
		"a name that is half Base64":      {modernCall, append(called, "Mcp-Name", "dGV4dA==?="), 400, `"code":-32020`},
		"another name":                    {modernCall, append(called, "Mcp-Name", "other"), 400, `"id":1,"error":{"code":-32020,"message":"Header mismatch: Mcp-Name is \"other\", but the message has \"text\""}`},
		"two names":                       {modernCall, append(called, "Mcp-Name", "text|other"), 400, `"code":-32020`},
		"no name":                         {modernCall, append(called, "Mcp-Name", ""), 400, `"code":-32020`},
		"another method":                  {modernCall, append(called, "Mcp-Method", "tools/list"), 400, `"code":-32020`},
		"no method":                       {modernCall, append(called, "Mcp-Method", ""), 400, `"code":-32020`},
		"another version":                 {modernCall, append(called, "MCP-Protocol-Version", "2025-11-25"), 400, `"code":-32020`},
		"no version":                      {modernCall, append(called, "MCP-Protocol-Version", ""), 400, `"code":-32020`},
		"no _meta":                        {call, called, 400, `"code":-32602,"message":"_meta has no \"io.modelcontextprotocol/protocolVersion\"`},
		"no capabilities":                 {strings.Replace(modernCall, "clientCapabilities", "other", 1), called, 400, `"code":-32602`},
		"an unknown version in _meta":     {strings.Replace(modernCall, modern, "2099-01-01", 1), called, 400, `"code":-32020`},
		"an unknown version per call":     {strings.Replace(modernCall, modern, "2099-01-01", 1), append(called, "MCP-Protocol-Version", "2099-01-01"), 400, `"code":-32022,"message":"Unsupported protocol version","data":{"requested":"2099-01-01","supported":["2026-07-28"]}`},
		"an unknown modern method":        {rpc("nope", meta), version("Mcp-Method", "nope"), 404, `"id":1,"error":{"code":-32601`},
		"no ping in the modern era":       {rpc("ping", meta), version("Mcp-Method", "ping"), 404, `"code":-32601`},
		"no initialize in the modern era": {rpc("initialize", meta), version("Mcp-Method", "initialize"), 404, `"code":-32601`},
		"a call without a tool's name":    {rpc("tools/call", meta), version("Mcp-Method", "tools/call"), 200, `"code":-32602,"message":"name is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := post(mcp.New(options(&fake{hooks: []schema.Hook{text}, call: echo})), c.body, c.headers...)
			got := w.Body.String()
			if w.Code != c.status || !strings.Contains(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %d %s, want %d %s", w.Code, got, c.status, c.want)
			}
			if kind := w.Header().Get("Content-Type"); c.want != "" && kind != "application/json" {
				t.Errorf("the Content-Type is %q", kind)
			}
		})
	}
}

// TestHTTPMethods checks that only POST is answered, because there are no streams to resume or
// sessions to end.
func TestHTTPMethods(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "HEAD", "DELETE", "PUT", "OPTIONS"} {
		w, r := httptest.NewRecorder(), request(t.Context(), "")
		r.Method = method
		if mcp.New(options(nil)).ServeHTTP(w, r); w.Code != 405 || w.Header().Get("Allow") != "POST" {
			t.Errorf("%s: got %d, Allow is %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
}

// TestHTTPLarge checks that a body that exceeds the limit of the handler's caller is rejected.
func TestHTTPLarge(t *testing.T) {
	t.Parallel()
	w, r := httptest.NewRecorder(), request(t.Context(), rpc("ping", `"x":"`+strings.Repeat("x", 1000)+`"`))
	r.Body = http.MaxBytesReader(w, r.Body, 1000)
	mcp.New(options(nil)).ServeHTTP(w, r)
	if w.Code != 413 || !strings.Contains(w.Body.String(), "larger than 1000 bytes") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// counting is a hook that emits two items.
func counting(_ context.Context, c hook.Call) (hook.Result, error) {
	for _, text := range []string{`"a"`, `"b"`} {
		if err := c.Emit(hook.Item{Value: json.RawMessage(text)}); err != nil {
			return hook.Result{}, err
		}
	}
	return hook.Result{Streamed: true}, nil
}

// TestHTTPAccept checks that the client's Accept decides between JSON, a stream and an error.
// Progress turns an answer into a stream, if the client accepts one.
func TestHTTPAccept(t *testing.T) {
	t.Parallel()
	s := mcp.New(options(&fake{hooks: []schema.Hook{text}, call: counting}))
	const jsonType, eventType = "application/json", "text/event-stream"
	for accept, want := range map[string]struct{ plain, progress string }{
		both:                          {jsonType, eventType},
		"":                            {jsonType, eventType},
		"*/*":                         {jsonType, eventType},
		"application/*":               {jsonType, jsonType},
		"application/json":            {jsonType, jsonType},
		"text/html|Application/JSON":  {jsonType, jsonType},
		"text/event-stream;x=1":       {eventType, eventType},
		"text/*":                      {eventType, eventType},
		"*/*, application/json;q=0":   {eventType, eventType},
		"text/event-stream;q=0.0,*/*": {jsonType, jsonType},
		"text/html, text/plain":       {},
		"application/json;q=0":        {},
		",":                           {},
	} {
		for meta, want := range map[string]string{"": want.plain, `,"_meta":{"progressToken":"p"}`: want.progress} {
			w := post(s, rpc("tools/call", `"name":"text"`+meta), "Accept", accept)
			switch got := w.Header().Get("Content-Type"); {
			case want == "" && w.Code != 406:
				t.Errorf("Accept %q: got %d", accept, w.Code)
			case want != "" && (w.Code != 200 || got != want || !strings.Contains(w.Body.String(), `"text":"a\nb"`)):
				t.Errorf("Accept %q, %q: got %d %s %s, want %s", accept, meta, w.Code, got, w.Body, want)
			}
		}
	}
	listen := rpc("subscriptions/listen", `"notifications":{},`+meta)
	if w := post(s, listen, "Accept", jsonType, "MCP-Protocol-Version", modern, "Mcp-Method", "subscriptions/listen"); w.Code != 406 {
		t.Errorf("a subscription without a stream: got %d", w.Code)
	}
}

// TestHTTPProgress checks that a stream has the notifications of its request, and ends with the
// answer.
func TestHTTPProgress(t *testing.T) {
	t.Parallel()
	w := post(mcp.New(options(&fake{hooks: []schema.Hook{text}, call: counting})), rpc("tools/call", `"name":"text","_meta":{"progressToken":7}`))
	const want = `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1,"message":"a"}}

data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":2,"message":"b"}}

data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a\nb"}]}}

`
	if got := w.Body.String(); got != want {
		t.Errorf("got %s", got)
	}
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestHTTPInitialize checks that an initialize gets a label for its session, and no promise of
// notifications.
func TestHTTPInitialize(t *testing.T) {
	t.Parallel()
	s, seen := mcp.New(options(nil)), map[string]bool{}
	for _, headers := range [][]string{nil, {"MCP-Protocol-Version", "2025-11-25"}, {"MCP-Protocol-Version", modern}} {
		w := post(s, initialize, headers...)
		if got := w.Body.String(); w.Code != 200 || !strings.Contains(got, `"protocolVersion":"2025-06-18","capabilities":{"tools":{}},`) {
			t.Errorf("got %d %s", w.Code, got)
		}
		seen[w.Header().Get("Mcp-Session-Id")] = true
	}
	if len(seen) != 3 || seen[""] {
		t.Errorf("the sessions are %v", seen)
	}
	if w := post(s, initialize, "MCP-Protocol-Version", "1900-01-01"); w.Code != 400 {
		t.Errorf("an unknown version: got %d", w.Code)
	}
}

// live is a response that is read while it is written.
type live struct {
	header http.Header
	status int
	parts  chan string
}

func newLive() *live { return &live{header: http.Header{}, parts: make(chan string, 100)} }

func (l *live) Header() http.Header { return l.header }
func (l *live) WriteHeader(n int)   { l.status = n }
func (l *live) Flush()              {}
func (l *live) Write(p []byte) (int, error) {
	l.parts <- string(p)
	return len(p), nil
}

// blocked returns a plugin whose calls last until they are canceled.
func blocked(began chan<- struct{}, canceled chan<- error) *fake {
	return &fake{hooks: []schema.Hook{text}, call: func(ctx context.Context, c hook.Call) (hook.Result, error) {
		began <- struct{}{}
		<-ctx.Done()
		canceled <- context.Cause(ctx)
		return hook.Result{}, hook.Ended(ctx, c.Hook, "", true)
	}}
}

// TestHTTPCancel checks that a notification cancels only the request of its own session, which then
// has no answer.
func TestHTTPCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, canceled := make(chan struct{}, 9), make(chan error, 9)
		s := mcp.New(options(blocked(began, canceled)))
		ctx, end := context.WithCancel(t.Context())
		defer end()
		answer := make(chan *httptest.ResponseRecorder)
		for _, session := range []string{"a", "b", ""} {
			go func() {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, request(ctx, rpc("tools/call", `"name":"text"`), "Mcp-Session-Id", session))
				if answer <- w; session != "a" && w.Body.Len() > 0 {
					t.Errorf("session %q got %s", session, w.Body)
				}
			}()
			synctest.Wait()
		}
		cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
		for _, session := range []string{"", "other", "a"} {
			if len(canceled) > 0 {
				t.Error("another session's request is canceled")
			}
			if w := post(s, cancel, "Mcp-Session-Id", session); w.Code != 202 {
				t.Errorf("got %d", w.Code)
			}
			synctest.Wait()
		}
		if err := <-canceled; err == nil || err.Error() != "the client canceled the request" {
			t.Errorf("canceled for %v", err)
		}
		if w := <-answer; w.Code != 200 || w.Body.Len() > 0 || len(canceled) > 0 {
			t.Errorf("got %d %s, and %d others are canceled", w.Code, w.Body, len(canceled))
		}
		end()
		<-answer
		<-answer
	})
}

// TestHTTPGone checks that a client that disconnects cancels its request at once, modern or legacy,
// and that nothing more is written.
func TestHTTPGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body    string
		headers []string
	}{
		"2025": {rpc("tools/call", `"name":"text","_meta":{"progressToken":1}`), nil},
		"2026": {rpc("tools/call", `"name":"text",`+meta), []string{"MCP-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", "text"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began, canceled := make(chan struct{}, 9), make(chan error, 9)
			ended := make(chan struct{})
			s := mcp.New(options(blocked(began, canceled)))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(ended)
				recorded := httptest.NewRecorder()
				if s.ServeHTTP(recorded, r); recorded.Body.Len() > 0 || recorded.Flushed {
					t.Errorf("got %s", recorded.Body)
				}
			}))
			defer server.Close()
			ctx, leave := context.WithCancel(t.Context())
			go func() { <-began; leave() }()
			r := request(ctx, c.body, c.headers...)
			r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", server.Listener.Addr().String()
			if _, err := http.DefaultClient.Do(r); err == nil {
				t.Error("there is an answer")
			}
			<-canceled
			<-ended
		})
	}
}

// TestHTTPStopped checks that a server that ends its requests answers them, because their clients
// are still connected.
func TestHTTPStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, canceled := make(chan struct{}, 1), make(chan error, 1)
		s := mcp.New(options(blocked(began, canceled)))
		ctx, stop := context.WithCancelCause(t.Context())
		go func() { <-began; stop(errors.New("the daemon stops")) }()
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request(ctx, rpc("tools/call", `"name":"text"`)))
		if got := w.Body.String(); !strings.Contains(got, "the daemon stops") || !strings.Contains(got, `"isError":true`) {
			t.Errorf("got %s", got)
		}
	})
}

// TestHTTPSilence checks that a long silent request becomes a stream with comments, if the client
// accepts one.
func TestHTTPSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mcp.New(options(&fake{hooks: []schema.Hook{text}, call: func(ctx context.Context, c hook.Call) (hook.Result, error) {
			time.Sleep(40 * time.Second)
			return echo(ctx, c)
		}}))
		w := newLive()
		s.ServeHTTP(w, request(t.Context(), rpc("tools/call", `"name":"text"`)))
		var got strings.Builder
		for range len(w.parts) {
			got.WriteString(<-w.parts)
		}
		if want := ":\n\n:\n\ndata: " + `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}}` + "\n\n"; got.String() != want {
			t.Errorf("got %q", got.String())
		}
		if w := post(s, rpc("tools/call", `"name":"text"`), "Accept", "application/json"); w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("got %s", w.Body)
		}
	})
}

// TestHTTPListen checks that a subscription is acknowledged, then notified of other tools, until
// its client leaves or the server ends.
func TestHTTPListen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fake{hooks: []schema.Hook{text}, call: echo}
		s := mcp.New(options(p))
		post(s, rpc("tools/call", `"name":"text"`))
		ctx, leave := context.WithCancel(t.Context())
		headers := []string{"MCP-Protocol-Version", modern, "Mcp-Method", "subscriptions/listen"}
		var ended sync.WaitGroup
		listen := func(ctx context.Context, filter string) *live {
			w := newLive()
			ended.Go(func() {
				s.ServeHTTP(w, request(ctx, rpc("subscriptions/listen", `"notifications":{`+filter+`},`+meta), headers...))
			})
			synctest.Wait()
			return w
		}
		stays, leaves, none := listen(t.Context(), `"toolsListChanged":true`), listen(ctx, `"toolsListChanged":true`), listen(t.Context(), "")
		wants := func(w *live, want string) {
			t.Helper()
			synctest.Wait()
			var got string
			for range len(w.parts) {
				if part := <-w.parts; part != ":\n\n" {
					got += part
				}
			}
			if want != "" {
				want = "data: " + want + "\n\n"
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		const id = `"_meta":{"io.modelcontextprotocol/subscriptionId":1}`
		const acknowledged = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + id + `,"notifications":{`
		const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + id + `}}`
		wants(stays, acknowledged+`"toolsListChanged":true}}}`)
		wants(leaves, acknowledged+`"toolsListChanged":true}}}`)
		wants(none, acknowledged+`}}}`)
		s.Reload(t.Context(), p) // the tools are the same
		wants(stays, "")
		p.set(text, schema.Hook{Name: "new"})
		s.Reload(t.Context(), p)
		wants(stays, changed)
		wants(leaves, changed)
		leave()
		p.set(text)
		synctest.Wait()
		post(s, rpc("tools/list", "")) // a client's list also detects the change, for all clients
		wants(stays, changed)
		wants(leaves, "")
		time.Sleep(10 * time.Minute)
		wants(none, "")
		s.End()
		const complete = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",` + id + `}}`
		wants(stays, complete)
		wants(none, complete)
		wants(listen(t.Context(), ""), acknowledged+"}}}\n\ndata: "+complete)
		ended.Wait()
	})
}

// set sets the hooks.
func (f *fake) set(hooks ...schema.Hook) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hooks = hooks
}

// asked is a plugin that counts how often its hooks are described.
type asked struct {
	*fake
	n atomic.Int32
}

func (a *asked) Hooks(ctx context.Context, q schema.Query) (schema.Schema, error) {
	a.n.Add(1)
	return a.fake.Hooks(ctx, q)
}

// TestHTTPFresh checks that a list shows the current plugin, even before Reload, and that calls do
// not read the schemas again.
func TestHTTPFresh(t *testing.T) {
	t.Parallel()
	p := &asked{fake: &fake{hooks: []schema.Hook{text}, call: echo}}
	s := mcp.New(options(p))
	call := func() string { return post(s, rpc("tools/call", `"name":"text"`)).Body.String() }
	first := call()
	for range 5 {
		if got := call(); got != first {
			t.Errorf("got %s, want %s", got, first)
		}
	}
	if n := p.n.Load(); n != 1 {
		t.Errorf("the schemas were read %d times", n)
	}
	for _, name := range []string{"text", "other", "third"} {
		p.set(schema.Hook{Name: name})
		if got := post(s, rpc("tools/list", "")).Body.String(); !strings.Contains(got, `"tools":[{"name":"`+name+`"`) {
			t.Errorf("got %s, want %s", got, name)
		}
	}
	p.set(text)
	if got := call(); got != first {
		t.Errorf("got %s, want %s", got, first)
	}
}

// TestHTTPFailing checks that a plugin that fails has the last known list, or else the list of its
// source, or else an error.
func TestHTTPFailing(t *testing.T) {
	t.Parallel()
	p := &fake{hooks: []schema.Hook{text}, call: echo}
	o := options(p)
	var fails, hasSource atomic.Bool
	fails.Store(true)
	o.Plugin = func(context.Context) (mcp.Plugin, error) {
		if fails.Load() {
			return nil, hook.NewError(hook.Unavailable, errors.New("broken"))
		}
		return p, nil
	}
	o.Source = func(context.Context) []schema.Hook {
		if hasSource.Load() {
			return []schema.Hook{{Name: "source"}}
		}
		return nil
	}
	s := mcp.New(o)
	wants := func(want string) {
		t.Helper()
		if got := post(s, rpc("tools/list", "")).Body.String(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	wants(`"error":{"code":-32603,"message":"broken"}`)
	hasSource.Store(true)
	wants(`"name":"source"`)
	fails.Store(false)
	wants(`"name":"text"`)
	fails.Store(true)
	wants(`"name":"text"`)
}

// TestHTTPUnread checks that a client that does not read its answer does not keep a slot.
func TestHTTPUnread(t *testing.T) {
	t.Parallel()
	large := string(schema.Quote(strings.Repeat("x", 16<<20)))
	server := httptest.NewServer(mcp.New(options(&fake{hooks: []schema.Hook{text}, call: func(_ context.Context, c hook.Call) (hook.Result, error) {
		if string(c.Args.JSON) == "{}" {
			return value(large), nil
		}
		return value("1"), nil
	}})))
	defer server.Close()
	send := func(arguments string) io.ReadCloser {
		r := request(t.Context(), rpc("tools/call", `"name":"text","arguments":`+arguments))
		r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", server.Listener.Addr().String()
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return res.Body
	}
	for range 3 { // there are two slots
		defer send("{}").Close()
	}
	body := send(`{"a":1}`)
	defer body.Close()
	if got, err := io.ReadAll(body); err != nil || !strings.Contains(string(got), `"text":"1"`) {
		t.Errorf("got %s, %v", got, err)
	}
}
