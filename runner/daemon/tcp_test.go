package daemon

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/daemon/access"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// openTCP listens on loopback with the token "t".
func openTCP(t *testing.T) *access.Access {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte("t"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := access.Open(t.Context(), access.Options{Listen: []string{"127.0.0.1:0"}, TokenFile: path, MaxBody: 1000}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ask sends a request over TCP and returns the answer. The request has the token unless the path
// ends in " stranger".
func (d *served) ask(t *testing.T, method, path, body string) (*http.Response, string) {
	t.Helper()
	path, isStranger := strings.CutSuffix(path, " stranger")
	r, err := http.NewRequest(method, d.opts.Access.URLs()[0]+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", jsonType)
	if strings.HasPrefix(path, "/hooks/input") {
		r.Header.Set("Content-Type", streamType)
	}
	if !isStranger {
		r.Header.Set("Authorization", "Bearer t")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

// TestTCPBodyBeyondTimeout checks that the limit of a call includes the time for its body.
func TestTCPBodyBeyondTimeout(t *testing.T) {
	nothingLeft(t)
	d := start(t, newFake(), Options{Access: openTCP(t)})
	c, err := net.Dial("tcp", strings.TrimPrefix(d.opts.Access.URLs()[0], "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "POST /hooks/echo?timeout=10ms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n["); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusGatewayTimeout || !strings.Contains(string(text), `"kind":"timeout"`) {
		t.Errorf("%d, %v: %s", answer.StatusCode, err, text)
	}
}

// late is a body that came too slowly.
type late struct{}

func (late) Read([]byte) (int, error) { return 0, &access.Refusal{Status: http.StatusRequestTimeout} }

// TestTCPBodySlow checks the status of a request whose body came too slowly. net/http has then
// canceled the context of the request.
func TestTCPBodySlow(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := readWhole(ctx, httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/hooks/echo", late{}))
	if status := statusOf(hook.AsError(err)); status != http.StatusRequestTimeout {
		t.Errorf("got status %d", status)
	}
}

// TestTCP checks which requests are served over TCP, and what their answers do not contain.
func TestTCP(t *testing.T) {
	nothingLeft(t)
	defer http.DefaultClient.CloseIdleConnections()
	f := newFake()
	f.hooks["fail"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		frames := []hook.Frame{{File: "/home/me/secret/a.py", Line: 1, Text: "secret()"}, {File: "/home/me/secret/b.py", Line: 2, Function: "f", Text: "raise secret"}}
		return hook.Result{}, &hook.Error{Kind: hook.Failed, Hook: c.Hook, Begun: true, Python: &hook.Raised{Type: "E", Message: "m", Frames: frames, Cause: &hook.Raised{Type: "secret"}}}
	}
	f.hooks["crash"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		return hook.Result{}, &hook.Error{Kind: hook.Crash, Hook: c.Hook, Begun: true, Err: errors.New("the plugin exited"), Exit: &hook.Exit{Code: 3, Stderr: []string{"secret"}}}
	}
	f.hooks["full"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		return hook.Result{}, &hook.Error{Kind: hook.Unavailable, Hook: c.Hook, Err: errors.New("the queue is full")}
	}
	f.hooks["limit"] = func(ctx context.Context, _ hook.Call) (hook.Result, error) {
		return value(hook.Limit(ctx).String()), nil
	}
	f.hooks["input"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		for _, err := range c.Input {
			if err != nil {
				return hook.Result{}, hook.NewError(hook.Request, err)
			}
		}
		return value("all"), nil
	}
	d := start(t, f, Options{Access: openTCP(t), CallTimeout: time.Minute})
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/hooks/echo", `{"a": 1}`, 200, `{"a": 1}`},
		{"POST", "/hooks/echo stranger", `{}`, 401, `"the request has no valid token`},
		{"POST", "/hooks/none", `{}`, 404, `"reason":"no-hook"`},
		{"POST", "/hooks/echo", `{`, 400, `"kind":"request"`},
		{"POST", "/hooks/echo", strings.Repeat(" ", 1001), 413, `larger than 1000 bytes`},
		{"POST", "/hooks/input", strings.Repeat("{}\n", 1000), 200, `"all"`},
		{"POST", "/hooks/input", `"` + strings.Repeat("x", 1000) + `"`, 413, `message 1: the body is larger than 1000 bytes`},
		{"POST", "/hooks/fail", `{}`, 422, `"python":{"type":"E","message":"m","frames":[{"file":"b.py","line":2,"function":"f"}]}`},
		{"POST", "/hooks/crash", `{}`, 502, `"exit":{"code":3`},
		{"POST", "/hooks/full", `{}`, 503, `"sent":false`},
		{"POST", "/hooks/limit?timeout=2s", `{}`, 200, `"2s"`},
		{"POST", "/hooks/limit?timeout=2h", `{}`, 200, `"1m0s"`},
		{"POST", "/hooks/limit?timeout=0", `{}`, 200, `"1m0s"`},
		{"POST", "/hooks/echo?replay=1", `{}`, 400, `the query has replay`},
		{"GET", "/hooks?input=1", ``, 400, `the query has input`},
		{"GET", "/health?watch=", ``, 400, `the query has watch`},
		{"GET", "/hooks", ``, 200, `"name":"echo"`},
		{"GET", "/health", ``, 200, `"state":"ready"`},
		{"GET", "/health stranger", ``, 200, `"state":"ready"`},
		{"GET", "/livez stranger", ``, 200, `"live":true`},
		{"GET", "/status", ``, 404, `no such request`},
		{"GET", "/events", ``, 404, `no such request`},
		{"POST", "/calls", `{"hook": "echo"}`, 404, `no such request`},
		{"POST", "/restart", `{}`, 404, `no such request`},
		{"POST", "/stop", `{}`, 404, `no such request`},
		{"OPTIONS", "/hooks/echo", ``, 405, `no such request`},
	} {
		answer, text := d.ask(t, c.method, c.path, c.body)
		if answer.StatusCode != c.status || !strings.Contains(text, c.want) || strings.Contains(text, "secret") {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, answer.StatusCode, text, c.status, c.want)
		}
		if api := answer.Header.Get(apiHeader); api != strconv.Itoa(API) {
			t.Errorf("%s %s: %s is %q", c.method, c.path, apiHeader, api)
		}
		if retry := answer.Header.Get("Retry-After"); (retry != "") != (c.status == 503) {
			t.Errorf("%s %s: Retry-After is %q", c.method, c.path, retry)
		}
	}
	f.health = hook.NewError(hook.Unhealthy, errors.New("no database"))
	for _, who := range []string{"", " stranger"} {
		answer, text := d.ask(t, "GET", "/health"+who, "")
		if answer.StatusCode != 503 || !strings.Contains(text, `"state":"unhealthy"`) || strings.Contains(text, "no database") != (who == "") {
			t.Errorf("an unhealthy plugin%s: %d %s", who, answer.StatusCode, text)
		}
	}
}

// TestTCPStart checks that health requests are answered at once while the plugin starts.
func TestTCPStart(t *testing.T) {
	nothingLeft(t)
	defer http.DefaultClient.CloseIdleConnections()
	d := &served{Server: listen(t, Options{Access: openTCP(t)})}
	if answer, text := d.ask(t, "GET", "/health", ""); answer.StatusCode != 503 || !strings.Contains(text, "the plugin is starting") {
		t.Errorf("%d %s", answer.StatusCode, text)
	}
	d.Unhealthy(hook.NewError(hook.Unhealthy, errors.New("no database yet")))
	if answer, text := d.ask(t, "GET", "/health", ""); answer.StatusCode != 503 || !strings.Contains(text, "no database yet") {
		t.Errorf("%d %s", answer.StatusCode, text)
	}
	d.Fail(errors.New("no"))
}

// TestDrain checks that after a stop health requests fail at once, that calls are still accepted
// for a while with answers that close their connections, and that the stop waits for running calls.
func TestDrain(t *testing.T) {
	nothingLeft(t)
	defer http.DefaultClient.CloseIdleConnections()
	f := newFake()
	release := make(chan struct{})
	f.hooks["wait"] = func(context.Context, hook.Call) (hook.Result, error) {
		<-release
		return value("ended"), nil
	}
	kill, hurry := context.WithCancel(t.Context())
	d := start(t, f, Options{Access: openTCP(t), Drain: time.Hour, Kill: kill})
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() {
		if answer, text := d.ask(t, "POST", "/hooks/wait", "{}"); answer.StatusCode != 200 || text != `"ended"` {
			t.Errorf("the call that ran: %d %s", answer.StatusCode, text)
		}
	})
	f.awaitCall(t)
	d.end()
	runnertest.Until(t, "the stop has begun", d.draining.Load)
	if answer, text := d.ask(t, "GET", "/health", ""); answer.StatusCode != 503 || !strings.Contains(text, `"state":"stopping"`) {
		t.Errorf("health: %d %s", answer.StatusCode, text)
	}
	if answer, text := d.ask(t, "POST", "/hooks/echo", "{}"); answer.StatusCode != 200 || !answer.Close {
		t.Errorf("a call: %d %s, closes: %v", answer.StatusCode, text, answer.Close)
	}
	close(release)
	work.Wait()
	hurry()
	<-d.over
}
