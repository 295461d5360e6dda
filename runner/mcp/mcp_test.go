package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// fake is a plugin whose hooks are functions.
type fake struct {
	mu    sync.Mutex
	hooks []schema.Hook
	call  func(ctx context.Context, c hook.Call) (hook.Result, error)
}

func (f *fake) Hooks(context.Context, schema.Query) (schema.Schema, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return schema.Schema{Hooks: f.hooks}, nil
}

func (f *fake) Status(context.Context) (hook.Status, error) {
	return hook.Status{Concurrency: 2}, nil
}

func (f *fake) Call(ctx context.Context, c hook.Call) (hook.Result, error) { return f.call(ctx, c) }

// value returns a result.
func value(text string) hook.Result {
	return hook.Result{Item: hook.Item{Value: json.RawMessage(text)}}
}

// echo is a hook that returns its arguments.
func echo(_ context.Context, c hook.Call) (hook.Result, error) {
	if c.Args.Words != nil {
		text := string(c.Args.JSON)
		for _, w := range c.Args.Words {
			text += " " + w.Typed
		}
		return value(string(schema.Quote(text))), nil
	}
	return value(string(c.Args.JSON)), nil
}

var text = schema.Hook{Name: "text", Doc: "Return it.", Input: json.RawMessage(`{"type":"object"}`), Params: []schema.Param{{Name: "text", Required: true, Kind: schema.Ordinary}}}

// options returns options for a running plugin.
func options(p mcp.Plugin) mcp.Options {
	return mcp.Options{
		Name: "fake", Version: "1",
		Plugin: func(context.Context) (mcp.Plugin, error) { return p, nil },
		Kept:   func(context.Context) ([]schema.Hook, bool) { return nil, false },
		Keep:   func([]schema.Hook) {},
		Source: func(context.Context) []schema.Hook { return nil },
		Error:  hook.AsError,
	}
}

// session is a server and both ends of its streams.
type session struct {
	*mcp.Server
	t     *testing.T
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan struct{}
}

// serve runs a server until the test ends.
func serve(t *testing.T, o mcp.Options) *session {
	t.Helper()
	in, writer := io.Pipe()
	reader, out := io.Pipe()
	o.In, o.Out = in, out
	s := &session{Server: mcp.New(o), t: t, in: writer, out: bufio.NewReader(reader), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.Run(context.Background())
		out.Close()
	}()
	t.Cleanup(func() {
		writer.Close()
		go io.Copy(io.Discard, s.out)
		<-s.ended
		reader.Close()
	})
	return s
}

func (s *session) send(lines ...string) {
	s.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(s.in, line+"\n"); err != nil {
			s.t.Error(err)
		}
	}
}

func (s *session) next() string {
	s.t.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

const (
	meta       = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	server     = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"1"}}`
	initialize = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
)

// TestAnswers checks the answer to each line of a client.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, want string }{
		"an unknown version is answered with one":    {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1900-01-01"}}`, `"protocolVersion":"2025-11-25"`},
		"ping before initialize":                     {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		"discover":                                   {`{"jsonrpc":"2.0","id":"a","method":"server/discover","params":{` + meta + `}}`, `{"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private",` + server + `}}`},
		"a call without initialize":                  {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"text","arguments":{"text":"x"},` + meta + `}}`, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"{\"text\":\"x\"}"}],"structuredContent":{"text":"x"},` + server + `}}`},
		"no version":                                 {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"code":-32602`},
		"no capabilities":                            {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, `"code":-32602,"message":"_meta has no \"io.modelcontextprotocol/clientCapabilities\"`},
		"only capabilities":                          {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}`, `"code":-32602`},
		"an unknown version per request":             {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"requested":"1900-01-01","supported":["2026-07-28"]}}}`},
		"discover without a version":                 {`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, `"code":-32602`},
		"no ping in the modern era":                  {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + meta + `}}`, `"code":-32601`},
		"an unknown method":                          {`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{` + meta + `}}`, `"code":-32601`},
		"an unknown tool":                            {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope",` + meta + `}}`, `"code":-32602,"message":"Unknown tool: nope`},
		"arguments that are no object":               {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"text","arguments":[],` + meta + `}}`, `"code":-32602`},
		"keys in another letter case":                {`{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"tools/call","ID":2,"Params":{"name":"text"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		"a method in another letter case":            {`{"jsonrpc":"2.0","id":1,"Method":"ping"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"method is missing`},
		"a key twice":                                {`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"\"method\" is given twice"}}`},
		"a key twice, once escaped":                  {`{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/call"}`, `"code":-32600,"message":"\"method\" is given twice"`},
		"a name in another letter case":              {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"text","NAME":"nope","ARGUMENTS":{"text":"y"},"arguments":{"text":"x","TEXT":1,"text":"z"},` + meta + `}}`, `{\"text\":\"x\",\"TEXT\":1,\"text\":\"z\"}`},
		"a name twice":                               {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"text","name":"nope",` + meta + `}}`, `"code":-32602,"message":"\"name\" is given twice"`},
		"a key of _meta twice":                       {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":1,"progressToken":2}}}`, `"code":-32602,"message":"\"progressToken\" is given twice"`},
		"_meta in another letter case":               {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_META":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, `"code":-32602,"message":"_meta has no`},
		"a version in another letter case":           {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolversion":"2025-06-18"}}`, `"code":-32602,"message":"protocolVersion is missing`},
		"a filter twice":                             {`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":false,"toolsListChanged":true},` + meta + `}}`, `"code":-32602,"message":"\"toolsListChanged\" is given twice"`},
		"unknown keys twice":                         {`{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":2,"params":{"y":{},"y":[]}}`, `"id":1,"result":{}`},
		"no name":                                    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `}}`, `"code":-32602`},
		"params that are no object":                  {`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602`},
		"a cursor":                                   {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x",` + meta + `}}`, `"code":-32602`},
		"no JSON":                                    {`{"jsonrpc"`, `{"jsonrpc":"2.0","error":{"code":-32700`},
		"not UTF-8":                                  {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}", `{"jsonrpc":"2.0","error":{"code":-32700`},
		"nested too deeply":                          {strings.Repeat("[", 100_000), `{"jsonrpc":"2.0","error":{"code":-32700`},
		"no object":                                  {`3`, `{"jsonrpc":"2.0","error":{"code":-32600`},
		"no jsonrpc":                                 {`{"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600`},
		"a method that is no text":                   {`{"jsonrpc":"2.0","id":1,"method":3}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600`},
		"an id of null":                              {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","error":{"code":-32600`},
		"an id that is a bool":                       {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","error":{"code":-32600`},
		"an id that is no integer":                   {`{"jsonrpc":"2.0","id":1.5,"method":3}`, `{"jsonrpc":"2.0","error":{"code":-32600`},
		"a large id":                                 {`{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}`, `"id":123456789012345678901234567890,`},
		"an id with a lone surrogate":                {`{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, `"id":"\ud800",`},
		"an answer is ignored":                       {`{"jsonrpc":"2.0","id":1,"result":{}}`, ``},
		"an unknown notification":                    {`{"jsonrpc":"2.0","method":"notifications/x"}`, ``},
		"an empty line":                              {` `, ``},
		"a batch that the version does not have":     {`[` + initialize + `]`, `{"jsonrpc":"2.0","error":{"code":-32600`},
		"a byte order mark":                          {"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `"result":{}`},
		"a byte order mark on a later line":          {"\n\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `"result":{}`},
		"a line that is too long is read to its end": {strings.Repeat("x", 65<<20), `{"jsonrpc":"2.0","error":{"code":-32700`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, options(&fake{hooks: []schema.Hook{text}, call: echo}))
			go s.send(c.line, `{"jsonrpc":"2.0","id":"end","method":"ping"}`)
			got := s.next()
			if c.want != "" {
				got += s.next() // in any order
			}
			if !strings.Contains(got, `"id":"end"`) || !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s in it", got, c.want)
			}
		})
	}
}

// TestBatch checks batches, which only one version of the protocol has.
func TestBatch(t *testing.T) {
	t.Parallel()
	s := serve(t, options(&fake{hooks: []schema.Hook{text}, call: echo}))
	s.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`)
	s.next()
	s.send(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},3,{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"text"}}]`)
	var answers []struct{ ID int }
	if err := json.Unmarshal([]byte(s.next()), &answers); err != nil || len(answers) != 3 || answers[0].ID != 1 || answers[2].ID != 2 {
		t.Errorf("got %+v, %v", answers, err)
	}
}

// connect connects the official client with a version of the protocol.
func connect(t *testing.T, o mcp.Options, version string, client *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	in, writer := io.Pipe()
	reader, out := io.Pipe()
	o.In, o.Out = in, out
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		mcp.New(o).Run(context.Background())
		out.Close()
	}()
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, client).
		Connect(t.Context(), &sdk.IOTransport{Reader: reader, Writer: writer}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cs.Close()
		<-ended
	})
	return cs
}

// TestOfficialClient checks that the official client lists and calls in every version that it
// supports.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			cs := connect(t, options(&fake{hooks: []schema.Hook{text}, call: echo}), version, nil)
			if got := cs.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("the version is %s", got)
			}
			called, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "text", Arguments: map[string]any{"text": "x"}})
			if err != nil || called.IsError || fmt.Sprint(called.StructuredContent) != "map[text:x]" || called.Content[0].(*sdk.TextContent).Text != `{"text":"x"}` {
				t.Errorf("got %+v, %v", called, err)
			}
			listed, err := cs.ListTools(t.Context(), nil)
			if err != nil || len(listed.Tools) != 1 || listed.Tools[0].Name != "text" || listed.Tools[0].Description != "Return it." {
				t.Errorf("got %+v, %v", listed, err)
			}
			if _, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "nope"}); err == nil {
				t.Error("an unknown tool is no error")
			}
		})
	}
}

// TestCancel checks that a client that cancels interrupts the call, and gets no answer to it.
func TestCancel(t *testing.T) {
	t.Parallel()
	began, canceled := make(chan struct{}), make(chan error, 1)
	s := serve(t, options(&fake{hooks: []schema.Hook{text}, call: func(ctx context.Context, c hook.Call) (hook.Result, error) {
		if string(c.Args.JSON) == `{"text":"now"}` {
			return echo(ctx, c)
		}
		close(began)
		<-ctx.Done()
		canceled <- context.Cause(ctx)
		return hook.Result{}, hook.Ended(ctx, c.Hook, "", true)
	}}))
	s.send(initialize)
	s.next()
	s.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"text"}}`)
	<-began
	s.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"text"}}`)
	if got := s.next(); !strings.Contains(got, "another request with the id 7") {
		t.Errorf("got %s", got)
	}
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if err := <-canceled; err == nil || !strings.Contains(err.Error(), "client canceled") {
		t.Errorf("canceled for %v", err)
	}
	s.send(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"text","arguments":{"text":"now"}}}`)
	if got := s.next(); !strings.Contains(got, `"id":8`) {
		t.Errorf("got %s", got)
	}
}

// TestContent checks how results and errors become content.
func TestContent(t *testing.T) {
	t.Parallel()
	item := func(text string) hook.Item { return hook.Item{Value: json.RawMessage(text)} }
	binary := func(text string) hook.Result {
		return hook.Result{Item: hook.Item{Value: json.RawMessage(text), Binary: true}}
	}
	for name, c := range map[string]struct {
		result hook.Result
		err    error
		items  []hook.Item
		want   string
	}{
		"text":             {value(`"a\nb"`), nil, nil, `"content":[{"type":"text","text":"a\nb"}]}`},
		"a lone surrogate": {value(`"\ud800"`), nil, nil, `"text":"` + "\ufffd" + `"`},
		"null":             {value(`null`), nil, nil, `"content":[]}`},
		"an array":         {value(`[1]`), nil, nil, `"content":[{"type":"text","text":"[1]"}]}`},
		"an object":        {value(`{"a":1}`), nil, nil, `"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`},
		"PNG":              {binary("\x89PNG\r\n\x1a\n123"), nil, nil, `{"type":"image","data":"iVBORw0KGgoxMjM=","mimeType":"image/png"}`},
		"JPEG":             {binary("\xff\xd8\xff\xe0"), nil, nil, `"mimeType":"image/jpeg"`},
		"WAV":              {binary("RIFF$\x00\x00\x00WAVEfmt "), nil, nil, `{"type":"audio","data":"UklGRiQAAABXQVZFZm10IA==","mimeType":"audio/wav"}`},
		"bytes":            {binary("\x00\x01"), nil, nil, `{"type":"resource","resource":{"uri":"pyplug://result/text","mimeType":"application/octet-stream","blob":"AAE="}}`},
		"no bytes":         {binary(""), nil, nil, `"blob":""`},
		"a stream":         {hook.Result{Streamed: true}, nil, []hook.Item{item(`"a"`), item(`{"b":1}`), binary("\x00\x01").Item, item(`2`)}, `[{"type":"text","text":"a\n{\"b\":1}"},{"type":"resource"`},
		"an empty stream":  {hook.Result{Streamed: true}, nil, nil, `"content":[]}`},
		"an exception": {err: &hook.Error{Kind: hook.Failed, Python: &hook.Raised{Type: "ValueError", Message: "no", Frames: []hook.Frame{{File: "x.py", Line: 3, Function: "f", Text: "raise ValueError"}}}},
			want: `"content":[{"type":"text","text":"ValueError: no\n  x.py:3 in f\n    raise ValueError"}],"isError":true}`},
		"causes and members": {err: &hook.Error{Kind: hook.Failed, Python: &hook.Raised{Type: "ExceptionGroup", Message: "unhandled errors in a TaskGroup (1 sub-exception)",
			Group: []*hook.Raised{{Type: "OSError", Message: "no disk\na note"}}, Cause: &hook.Raised{Type: "KeyError", Message: "'x'"}}},
			want: `"text":"ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  1 of 1: OSError: no disk\n  a note\n  caused by KeyError: 'x'"}],"isError":true}`},
		"a status": {err: &hook.Error{Kind: hook.Failed, Err: errors.New("NOT_FOUND: no"), Status: &hook.RPCStatus{Code: "NOT_FOUND", Message: "no", Details: []json.RawMessage{json.RawMessage(`{"@type":"x"}`)}}},
			want: `"text":"NOT_FOUND: no\n  {\"@type\":\"x\"}"}],"isError":true}`},
		"a crash": {err: &hook.Error{Kind: hook.Crash, Err: errors.New("the plugin exited during the call"), Exit: &hook.Exit{Code: 3, Stderr: []string{"last words"}}},
			want: `"text":"the plugin exited during the call (exit code 3)\nlast words"}],"isError":true}`},
		"a hint": {err: &hook.Error{Kind: hook.Request, Err: errors.New("a is 1, expected text"), Hints: schema.Hints("try another")},
			want: `"text":"a is 1, expected text\nhint: try another"}],"isError":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, options(&fake{hooks: []schema.Hook{text}, call: func(_ context.Context, call hook.Call) (hook.Result, error) {
				for _, one := range c.items {
					if err := call.Emit(one); err != nil {
						return hook.Result{}, err
					}
				}
				return c.result, c.err
			}}))
			s.send(initialize)
			s.next()
			s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"text"}}`)
			if got := s.next(); !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s in it", got, c.want)
			}
		})
	}
}

// TestProgress checks that a client that requests progress is notified of the items of a stream.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := serve(t, options(&fake{hooks: []schema.Hook{text}, call: func(_ context.Context, c hook.Call) (hook.Result, error) {
		for _, text := range []string{`"a"`, `{"b":1}`} {
			if err := c.Emit(hook.Item{Value: json.RawMessage(text)}); err != nil {
				return hook.Result{}, err
			}
		}
		return hook.Result{Streamed: true}, nil
	}}))
	s.send(initialize)
	s.next()
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"text","_meta":{"progressToken":"p"}}}`)
	for _, want := range []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"message":"a"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":2,"message":"{\"b\":1}"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a\n{\"b\":1}"}]}}`,
	} {
		if got := s.next(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestListOfChangedSource checks that the hooks in the source are listed if a plugin without hooks
// has changed and cannot start.
func TestListOfChangedSource(t *testing.T) {
	t.Parallel()
	p := &fake{call: echo}
	o := options(p)
	var broken atomic.Bool
	o.Plugin = func(context.Context) (mcp.Plugin, error) {
		if broken.Load() {
			return nil, hook.NewError(hook.Unavailable, errors.New("broken"))
		}
		return p, nil
	}
	o.Source = func(context.Context) []schema.Hook { return []schema.Hook{text} }
	s := serve(t, o)
	s.send(initialize)
	s.next()
	for _, want := range []string{`"tools":[]`, `"name":"text"`} {
		s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		if got := s.next(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
		broken.Store(true)
		s.Reload(t.Context(), unreadable{p})
	}
}

// unreadable is a plugin whose hooks cannot be described.
type unreadable struct{ *fake }

func (unreadable) Hooks(context.Context, schema.Query) (schema.Schema, error) {
	return schema.Schema{}, errors.New("broken")
}

// TestListChanged checks that a stored list is the answer while the plugin starts. If the plugin
// then has other tools, modern and legacy clients are notified.
func TestListChanged(t *testing.T) {
	t.Parallel()
	p := &fake{hooks: []schema.Hook{text, {Name: "new"}}, call: echo}
	o := options(p)
	ready := make(chan struct{})
	o.Plugin = func(ctx context.Context) (mcp.Plugin, error) {
		select {
		case <-ready:
			return p, nil
		case <-ctx.Done():
			return nil, hook.Ended(ctx, "", "", false)
		}
	}
	o.Kept = func(context.Context) ([]schema.Hook, bool) { return []schema.Hook{text}, true }
	s := serve(t, o)
	s.send(initialize)
	s.next()
	for _, c := range [][2]string{
		{`"id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}`, `{"io.modelcontextprotocol/subscriptionId":"l"},"notifications":{"toolsListChanged":true}`},
		{`"id":"none","method":"subscriptions/listen","params":{"notifications":{}`, `"none"},"notifications":{}`},
	} {
		s.send(`{"jsonrpc":"2.0",` + c[0] + `,` + meta + `}}`)
		want := c[1]
		if got := s.next(); !strings.Contains(got, `"method":"notifications/subscriptions/acknowledged"`) || !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if got := s.next(); strings.Contains(got, `"new"`) || !strings.Contains(got, `"text"`) {
		t.Errorf("got %s", got)
	}
	close(ready)
	got := []string{s.next(), s.next()}
	slices.Sort(got)
	if want := []string{
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`,
	}; !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if got := s.next(); !strings.Contains(got, `"new"`) {
		t.Errorf("got %s", got)
	}
	s.in.Close()
	if got := s.next() + s.next(); strings.Count(got, `"resultType":"complete"`) != 2 {
		t.Errorf("the subscriptions end with %s", got)
	}
	if _, err := s.out.ReadString('\n'); err != io.EOF {
		t.Error(err)
	}
}

// hanging is a plugin that does not describe its hooks.
type hanging struct {
	fake
	asked chan struct{}
}

func (h *hanging) Hooks(ctx context.Context, _ schema.Query) (schema.Schema, error) {
	h.asked <- struct{}{}
	<-ctx.Done()
	return schema.Schema{}, ctx.Err()
}

// TestReloadEnds checks that the wait for another reading of the tools ends with the context.
func TestReloadEnds(t *testing.T) {
	p := &hanging{asked: make(chan struct{})}
	s := mcp.New(options(p))
	var first sync.WaitGroup
	defer first.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first.Go(func() { s.Reload(ctx, p) })
	<-p.asked
	ended, end := context.WithCancel(t.Context())
	end()
	s.Reload(ended, p)
}

// TestBroken checks that a plugin that does not start answers every call with its error, and that
// its list comes from the source.
func TestBroken(t *testing.T) {
	t.Parallel()
	o := options(nil)
	broken := true
	var mu sync.Mutex
	o.Plugin = func(context.Context) (mcp.Plugin, error) {
		mu.Lock()
		defer mu.Unlock()
		if broken {
			return nil, &hook.Error{Kind: hook.Start, Err: errors.New("SyntaxError")}
		}
		return &fake{hooks: []schema.Hook{text}, call: echo}, nil
	}
	hasSource := true
	o.Source = func(context.Context) []schema.Hook {
		if hasSource {
			return []schema.Hook{{Name: "text", Input: json.RawMessage(`{"type":"object","properties":{"a":{}}}`)}}
		}
		return nil
	}
	s := serve(t, o)
	s.send(initialize)
	s.next()
	ask := func(method, want string) {
		t.Helper()
		s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/` + method + `","params":{"name":"text"}}`)
		if got := s.next(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	ask("call", `"text":"SyntaxError"}],"isError":true`)
	ask("list", `[{"name":"text","inputSchema":{"type":"object","properties":{"a":{}}}}]`)
	hasSource = false
	ask("list", `"error":{"code":-32603,"message":"SyntaxError"}`)
	mu.Lock()
	broken = false
	mu.Unlock()
	ask("call", "notifications/tools/list_changed") // the list has changed
	if got := s.next(); !strings.Contains(got, `"structuredContent":{}`) {
		t.Errorf("got %s", got)
	}
}

// TestUnread checks that a client that does not read stops the calls, because each keeps its slot
// until its answer is written.
func TestUnread(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	calls := 0
	s := serve(t, options(&fake{hooks: []schema.Hook{text}, call: func(ctx context.Context, c hook.Call) (hook.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return echo(ctx, c)
	}}))
	s.send(initialize)
	s.next()
	const all = 1000
	for i := range all {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"text"}}`, i))
	}
	runnertest.Until(t, "two calls are made", func() bool { mu.Lock(); defer mu.Unlock(); return calls == 2 })
	seen := map[string]bool{}
	for range all {
		seen[s.next()] = true
	}
	if len(seen) != all {
		t.Errorf("%d different answers, want %d", len(seen), all)
	}
}

// TestTools checks that the names of tools are accepted by clients, and that only the selected
// hooks are tools.
func TestTools(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70)
	hooks := []schema.Hook{{Name: "a.b"}, {Name: "a_b"}, {Name: "kv.KV/Put"}, {Name: long}, {Name: long + "y"}, {Name: "größe"}, {Name: "in", Streams: "in"}, {Name: "both", Streams: "both"}, {Name: "out", Streams: "out"}}
	for name, c := range map[string]struct {
		filter mcp.Filter
		want   string
	}{
		"all":    {mcp.Filter{}, "a_b a_b_2 kv_KV_Put " + long[:64] + " " + long[:62] + "_2 gr__e out"},
		"only":   {mcp.Filter{Only: []string{"a*", "out"}}, "a_b a_b_2 out"},
		"except": {mcp.Filter{Only: []string{"a*"}, Except: []string{"a.*"}}, "a_b"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, tool := range c.filter.Tools(hooks) {
				got = append(got, tool.Name)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %s", got, c.want)
			}
		})
	}
}
