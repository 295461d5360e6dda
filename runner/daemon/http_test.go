package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestStatusCodes checks that any HTTP client gets the envelope and the status that docs/http.md
// documents.
func TestStatusCodes(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	for _, kind := range hook.Kinds() {
		f.hooks[string(kind)] = func(context.Context, hook.Call) (hook.Result, error) {
			return hook.Result{}, &hook.Error{Kind: kind, Err: errors.New("x")}
		}
	}
	d := start(t, f, Options{})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", string(d.Identity().Socket))
	}}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, c := range []struct {
		method, path, body string
		api                string
		status             int
	}{
		{"POST", "/hooks/hook", "", "", 422}, {"POST", "/hooks/request", "[]", "1", 400}, {"POST", "/hooks/nosuch", "", "", 404},
		{"POST", "/hooks/timeout", "", "", 504}, {"POST", "/hooks/crash", "", "", 502}, {"POST", "/hooks/unavailable", "", "", 503},
		{"POST", "/hooks/canceled", "", "", 499}, {"POST", "/hooks/internal", "", "", 500}, {"POST", "/hooks/echo", "{", "", 400},
		{"POST", "/hooks/echo", "[\"\xff\"]", "", 400}, {"POST", "/hooks", "[]", "", 404},
		{"POST", "/hooks/echo?timeout=soon", "[]", "", 400}, {"POST", "/hooks/echo?timeout=-5s", "[]", "", 400}, {"POST", "/hooks/echo?timeout=nan", "[]", "", 400}, {"POST", "/hooks/block?timeout=0.01", "", "", 504}, {"POST", "/hooks/block?timeout=1e-12", "", "", 504},
		{"POST", "/hooks/echo?timeout=%zz", "[]", "", 400}, {"GET", "/status?%zz", "", "", 400},
		{"GET", "/nosuch", "", "", 404}, {"GET", "//status", "", "", 404}, {"GET", "/status/", "", "", 404}, {"PUT", "/status", "", "", 405}, {"GET", "/stop", "", "", 405}, {"POST", "/hooks/echo", "[]", "2", 503},
		{"POST", "/hooks/echo", "[1]", "", 200}, {"GET", "/status", "", "1", 200}, {"GET", "/health", "", "", 200}, {"GET", "/hooks", "", "", 200},
	} {
		req, err := http.NewRequest(c.method, "http://p"+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.api != "" {
			req.Header.Set("Pyplug-Api", c.api)
		}
		r, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		var answer wire.Failure
		_ = json.Unmarshal(body, &answer)
		if r.StatusCode != c.status || r.Header.Get("Pyplug-Api") != "1" || (answer.Error == nil) != (c.status == 200) || !json.Valid(body) {
			t.Errorf("%s %s %s: %d, want %d: %s", c.method, c.path, c.body, r.StatusCode, c.status, body)
		}
	}
}

// TestUnknownRequest checks that the error of an unknown request names the one that was probably
// meant.
func TestUnknownRequest(t *testing.T) {
	nothingLeft(t)
	d := start(t, newFake(), Options{})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", string(d.Identity().Socket))
	}}}
	for _, c := range []struct{ method, path, want string }{
		{"POST", "/greet", "send POST /hooks/greet to call a hook\n"},
		{"POST", "/KV%2FPut", "send POST /hooks/KV%2FPut to call a hook\n"},
		{"GET", "/", "send POST /hooks/HOOK to call a hook\n"},
		{"DELETE", "/hooks/greet", "send GET or POST /hooks/greet\n"},
		{"POST", "/health", "send GET /health\n"},
		{"GET", "/status/", ""},
	} {
		req, err := http.NewRequest(c.method, "http://p"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Error struct{ Hint string } }
		err = json.NewDecoder(r.Body).Decode(&answer)
		_ = r.Body.Close()
		if want := c.want + "run `pyplug help http` to list the requests"; err != nil || answer.Error.Hint != want {
			t.Errorf("%s %s: got %q, %v, want %q", c.method, c.path, answer.Error.Hint, err, want)
		}
	}
}

// TestBodyStalls checks that the limit of a call also limits the wait for its body.
func TestBodyStalls(t *testing.T) {
	nothingLeft(t)
	d := start(t, newFake(), Options{})
	conn, err := net.Dial("unix", string(d.Identity().Socket))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(runnertest.WaitTimeout))
	_, _ = conn.Write([]byte("POST /hooks/echo?timeout=0.01 HTTP/1.1\r\nHost: p\r\nContent-Length: 9\r\n\r\n[1"))
	answer, err := io.ReadAll(conn)
	if !strings.HasPrefix(string(answer), "HTTP/1.1 504 ") || !strings.Contains(string(answer), `"the request did not end within 10ms"`) {
		t.Errorf("got %s, %v", answer, err)
	}
}

// FuzzRequest checks that malformed or incomplete input does no harm.
func FuzzRequest(f *testing.F) {
	runDir(f)
	d := start(f, newFake(), Options{})
	c := open(f)
	for _, text := range []string{
		"GET / HTTP/1.1\r\n\r\n", "POST /hooks/echo HTTP/1.1\r\nHost: p\r\nContent-Length: 5\r\n\r\n[1",
		"POST /hooks/echo HTTP/1.1\r\nHost: p\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n",
		"POST /hooks/echo HTTP/1.1\r\nHost: p\r\nContent-Type: application/vnd.pyplug.words+json\r\nContent-Length: 30\r\n\r\n{\"words\":[{\"typed\":\"a@=b\"}]}  ",
		"V\x00\x00\x00\x01 frames of before",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if strings.Contains(string(raw), "/stop") {
			t.Skip()
		}
		conn, err := net.Dial("unix", string(d.Identity().Socket))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = conn.Write(raw) // the daemon may have closed it
		_ = conn.Close()
		if _, err := c.Call(ctx0, hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte("[]")}}); err != nil {
			t.Fatal(err)
		}
	})
}
