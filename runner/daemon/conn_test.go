package daemon

import (
	"bufio"
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

// send connects to a daemon and sends text.
func send(t *testing.T, d *served, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("unix", string(d.Identity().Socket))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(runnertest.WaitTimeout))
	_, _ = io.WriteString(c, text) // the daemon need not read all of it
	return c, bufio.NewReader(c)
}

// receive reads one answer. It checks the header and, if the request failed, that the error is as
// in docs/http.md.
func receive(t *testing.T, from *bufio.Reader) (r *http.Response, body string) {
	t.Helper()
	r, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Pyplug-Api") != "1" || r.Header.Get("Content-Type") == "" {
		t.Errorf("got %+v, %s, %v", r, text, err)
	}
	var answer wire.Failure
	if r.StatusCode != 200 && (json.Unmarshal(text, &answer) != nil || answer.Error == nil || answer.Error.Kind == "") {
		t.Errorf("got %s %s", r.Status, text)
	}
	return r, string(text)
}

const goodRequest = "GET /status HTTP/1.1\r\nHost: p\r\n\r\n"

// TestMalformed checks that a malformed request gets a normal error, even on a kept connection.
func TestMalformed(t *testing.T) {
	nothingLeft(t)
	d := start(t, newFake(), Options{})
	for request, want := range map[string]int{
		"OPTIONS * HTTP/1.1\r\nHost: p\r\n\r\n":                                                                     404,
		"POST /hooks/echo HTTP/1.1\r\nHost: p\r\nContent-Length: 999999999\r\n\r\n[":                                400,
		"POST /hooks/echo HTTP/1.1\r\nHost: p\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{]":               100,
		"POST /hooks/echo HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\nthis is no chunk\r\n": 400,
	} {
		for _, before := range []string{"", goodRequest} {
			_, from := send(t, d, before+request)
			if before != "" {
				if r, body := receive(t, from); r.StatusCode != 200 {
					t.Errorf("%.80q: the request before got %s: %s", request, r.Status, body)
				}
			}
			status := want
			if want == 100 {
				if r, err := http.ReadResponse(from, nil); err != nil || r.StatusCode != 100 {
					t.Errorf("%q: %+v, %v", request, r, err)
				}
				status = 400
			}
			if r, body := receive(t, from); r.StatusCode != status {
				t.Errorf("%.80q: got %s: %s, want %d", request, r.Status, body, want)
			}
		}
	}
}

// TestPlainErrors checks that net/http's own errors do not have the protocol's version, as
// docs/http.md says.
func TestPlainErrors(t *testing.T) {
	nothingLeft(t)
	d := start(t, newFake(), Options{})
	for request, want := range map[string]int{
		"garbage\r\n\r\n": 400,
		"POST /hooks/echo HTTP/1.1\r\nHost: p\r\nExpect: much\r\n\r\n":                     417,
		"GET /status HTTP/1.1\r\nHost: p\r\nX: " + strings.Repeat("a", 2<<20) + "\r\n\r\n": 431,
		"POST /hooks/echo HTTP/1.1\r\nHost: p\r\nTransfer-Encoding: gzip\r\n\r\n":          501,
		"GET /status HTTP/3.0\r\nHost: p\r\n\r\n":                                          505,
	} {
		c, err := net.Dial("unix", string(d.Identity().Socket))
		if err != nil {
			t.Fatal(err)
		}
		go c.Write([]byte(request)) // ends with c, because a rejected request is not read completely
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || r.StatusCode != want || r.Header.Get("Pyplug-Api") != "" || r.Header.Get("Content-Type") == "application/json" {
			t.Errorf("%.80q: got %+v, %v, want %d", request, r, err, want)
		}
		_ = c.Close()
	}
}

// TestResultLikeAnswer checks that a result that looks like an answer of net/http arrives
// unchanged.
func TestResultLikeAnswer(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	want := `"` + strings.Repeat("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n", 1000) + `"`
	f.hooks["echo"] = func(context.Context, hook.Call) (hook.Result, error) {
		return hook.Result{Item: hook.Item{Value: json.RawMessage(want)}}, nil
	}
	d := start(t, f, Options{})
	request := "POST /hooks/echo HTTP/1.1\r\nHost: p\r\nContent-Length: 2\r\n\r\n[]"
	_, from := send(t, d, request+request)
	for range 2 {
		if _, body := receive(t, from); body != want {
			t.Errorf("got %.200s", body)
		}
	}
}

// TestClientStreamEnds checks that a connection ends with the call of a client stream, even if the
// stream was read only in part. Later requests on it get no answer, and nothing panics.
func TestClientStreamEnds(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	f.hooks["refuse"] = func(context.Context, hook.Call) (hook.Result, error) {
		return hook.Result{}, &hook.Error{Kind: hook.Request, Err: errors.New("no stream of input")}
	}
	f.hooks["first"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		for range c.Input {
			break
		}
		return value(1), c.Emit(hook.Item{Value: json.RawMessage("1")})
	}
	f.hooks["all"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		n := 0
		for range c.Input {
			n++
		}
		return value(n), nil
	}
	d := start(t, f, Options{})
	const last = "0\r\n\r\n"
	for _, name := range []string{"refuse", "first", "all", "nosuch"} {
		head := "POST /hooks/" + name + " HTTP/1.1\r\nHost: p\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n1\n\r\n"
		for _, parts := range [][2]string{{last + goodRequest, ""}, {"", last + goodRequest}, {last, goodRequest}} {
			if name == "all" && parts[0] == "" {
				continue // the server waits for the rest
			}
			c, from := send(t, d, head+parts[0])
			r, body := receive(t, from)
			if !r.Close || strings.Contains(body, "panic") || r.StatusCode == 500 {
				t.Errorf("%s, %q: %+v %s", name, parts, r, body)
			}
			_, _ = io.WriteString(c, parts[1]) // the daemon may have closed the connection
			if more, _ := io.ReadAll(from); len(more) > 0 {
				t.Errorf("%s, %q: then %s", name, parts, more)
			}
		}
	}
	if err := ReadLog(ctx0, "p", Want{Last: -1}, func(l Line) error {
		if strings.Contains(l.Text, "panic") {
			t.Errorf("the log has %s", l.Text)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestUnreadItems checks that a streamed call ends at its limit even if nobody reads its items. A
// client that reads later gets all of them, and the error.
func TestUnreadItems(t *testing.T) {
	nothingLeft(t)
	f, ended := newFake(), make(chan int, 1)
	f.hooks["stream"] = func(ctx context.Context, c hook.Call) (hook.Result, error) {
		item := hook.Item{Value: json.RawMessage(`"` + strings.Repeat("x", 100_000) + `"`)}
		for n := 0; ; n++ {
			if c.Emit(item) != nil {
				ended <- n
				return hook.Result{}, hook.Ended(ctx, c.Hook, "", true)
			}
		}
	}
	d := start(t, f, Options{})
	_, from := send(t, d, "POST /hooks/stream?timeout=0.05 HTTP/1.1\r\nHost: p\r\nContent-Length: 2\r\n\r\n[]")
	n := <-ended
	_, body := receive(t, from)
	lines := strings.Split(strings.TrimSpace(body), "\n")
	if len(lines) != n+1 || !strings.Contains(lines[n], `"kind":"timeout"`) {
		t.Errorf("got %d lines for %d items, the last %.200s", len(lines), n, lines[len(lines)-1])
	}
}
