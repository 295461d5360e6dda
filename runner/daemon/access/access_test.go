package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// own is a peer with this user, and stranger a peer with another user.
var (
	own      = peer{func() (int, error) { return os.Geteuid(), nil }}
	stranger = peer{func() (int, error) { return os.Geteuid() + 1, nil }}
)

// newTokens returns the tokens one and two.
func newTokens(t *testing.T) *tokens {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	write(t, path, "one\r\n\n two\n", 0o600)
	all, err := openTokens(path, func(text string) { t.Log(text) })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

// serve answers a request, and returns the status and a text: the reason of a rejection. If the
// request was served, the text is the size of the body and whether the sender may call.
func serve(a *Access, r *http.Request, p peer) (int, string) {
	w := httptest.NewRecorder()
	served := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var why *Refusal
		if errors.As(err, &why) {
			w.WriteHeader(why.Status)
		}
		_, _ = fmt.Fprint(w, len(body), Known(r.Context()))
	}
	a.Handler(http.HandlerFunc(served), func(w http.ResponseWriter, _ *http.Request, why *Refusal) {
		w.WriteHeader(why.Status)
		_, _ = io.WriteString(w, why.Error())
	}).ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), peerKey{}, p)))
	return w.Code, w.Body.String()
}

// TestHandler checks which requests of which senders are served, and the order of the checks.
func TestHandler(t *testing.T) {
	token, user, anybody := &Access{tokens: newTokens(t)}, &Access{}, &Access{}
	anybody.o = Options{NoToken: true, Hosts: []string{"Api.Example"}}
	for _, a := range []*Access{token, user, anybody} {
		a.o.MaxBody = 10
	}
	const jsonHeader = "Content-Type: application/json"
	for _, c := range []struct {
		who     *Access
		peer    peer
		request string // method, path, host
		headers []string
		body    string
		status  int
		text    string
	}{
		{token, stranger, "GET /hooks evil", nil, "", 401, "no valid token"},
		{token, stranger, "GET /hooks evil", []string{"Authorization: Bearer three"}, "", 401, "no valid token"},
		{token, stranger, "GET /hooks evil", []string{"Authorization: Basic one"}, "", 401, "no valid token"},
		{token, stranger, "GET /hooks evil", []string{"Authorization: Bearer one"}, "", 200, "0 true"},
		{token, stranger, "GET /hooks evil", []string{"Authorization: bearer two"}, "", 200, "0 true"},
		{token, stranger, "GET /hooks evil", []string{"Authorization: Bearer one", "Origin: http://evil"}, "", 403, "Origin"},
		{token, stranger, "GET /livez evil", nil, "", 200, "0 false"},
		{token, stranger, "GET /health evil", []string{"Authorization: Bearer one"}, "", 200, "0 true"},
		{token, stranger, "POST /hooks/f h", []string{jsonHeader, "Content-Length: 11"}, strings.Repeat("x", 11), 401, "no valid token"},

		{user, own, "GET /hooks localhost", nil, "", 200, "0 true"},
		{user, own, "GET /hooks 127.0.0.1:80", nil, "", 200, "0 true"},
		{user, own, "GET /hooks [::1]:80", nil, "", 200, "0 true"},
		{user, own, "GET /hooks LOCALHOST.:1", nil, "", 200, "0 true"},
		{user, own, "GET /hooks evil", nil, "", 403, "Host"},
		{user, own, "GET /hooks localhost.evil", nil, "", 403, "Host"},
		{user, own, "GET /hooks 127.0.0.1.evil", nil, "", 403, "Host"},
		{user, own, "GET /hooks localhost", []string{"Origin: http://localhost:3000"}, "", 200, "0 true"},
		{user, own, "GET /hooks localhost", []string{"Origin: null"}, "", 403, "Origin"},
		{user, own, "GET /hooks localhost", []string{"Origin: file://localhost"}, "", 403, "Origin"},
		{user, stranger, "GET /hooks localhost", nil, "", 401, "belongs to user"},
		{user, stranger, "GET /health evil", nil, "", 200, "0 false"},
		{user, own, "GET /health evil", nil, "", 200, "0 false"},
		{user, own, "GET /health localhost", nil, "", 200, "0 true"},

		{anybody, stranger, "GET /hooks api.example:443", nil, "", 200, "0 true"},
		{anybody, stranger, "GET /hooks api.example", []string{"Origin: https://api.example"}, "", 200, "0 true"},
		{anybody, stranger, "GET /hooks other.example", nil, "", 403, "Host"},

		{user, own, "POST /hooks/f localhost", nil, "", 415, `Content-Type is ""`},
		{user, own, "POST /hooks/f localhost", []string{"Content-Type: text/plain"}, "{}", 415, "text/plain"},
		{user, own, "POST /hooks/f localhost", []string{jsonHeader + "; charset=UTF-8"}, "{}", 200, "2 true"},
		{user, own, "POST /hooks/f localhost", []string{jsonHeader + "; charset=latin1"}, "{}", 415, "latin1"},
		{user, own, "POST /hooks/f localhost", []string{jsonHeader, "Content-Encoding: gzip"}, "{}", 415, "gzip"},
		{user, own, "POST /hooks/f localhost", []string{jsonHeader}, strings.Repeat("x", 11), 413, "larger than 10 bytes"},
		{user, own, "POST /hooks/f localhost", []string{jsonHeader, "chunked"}, strings.Repeat("x", 11), 413, "10 true"},
		{user, own, "POST /hooks/f localhost", []string{"Content-Type: application/x-ndjson"}, strings.Repeat("x", 11), 200, "11 true"},
		{user, own, "POST /mcp localhost", []string{"Content-Type: application/x-ndjson"}, "{}", 415, "x-ndjson"},
		{user, own, "POST /hooks/f localhost", []string{"Content-Type: application/vnd.pyplug.words+json"}, "{}", 415, "words"},
	} {
		words := strings.Fields(c.request)
		r := httptest.NewRequest(words[0], words[1], strings.NewReader(c.body))
		r.Host = words[2]
		for _, h := range c.headers {
			if h == "chunked" {
				r.ContentLength = -1
				continue
			}
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Add(name, value)
		}
		if status, text := serve(c.who, r, c.peer); status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%s %q: %d %q, want %d %q", c.request, c.headers, status, text, c.status, c.text)
		}
	}
	if n := user.bodies.Load(); n != 0 {
		t.Errorf("%d bytes of bodies are still counted", n)
	}
}

// TestBodies checks that bodies share a limit, and that a slow body fails.
func TestBodies(t *testing.T) {
	a := &Access{o: Options{NoToken: true, MaxBody: 10}}
	post := func() *http.Request {
		r := httptest.NewRequest("POST", "/hooks/f", strings.NewReader("{}"))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	a.bodies.Store(bodiesSize)
	if status, _ := serve(a, post(), own); status != 503 {
		t.Errorf("too much at once: %d", status)
	}
	a.bodies.Store(0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := &body{ReadCloser: r.Body, a: a, control: http.NewResponseController(w), began: time.Now().Add(-bodyGrace)}
		_, err := io.ReadAll(b)
		_, _ = fmt.Fprint(w, err)
	}))
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 5\r\n\r\nx")
	if answer, _ := io.ReadAll(c); !strings.Contains(string(answer), "more slowly than") {
		t.Errorf("a slow body: %s", answer)
	}
}

// TestUnreadBody checks that a body that never arrives does not keep a connection open, for any
// sender and path.
func TestUnreadBody(t *testing.T) {
	before := bodyGrace
	bodyGrace = 10 * time.Millisecond
	defer func() { bodyGrace = before }()
	a := &Access{tokens: newTokens(t), o: Options{MaxBody: 10}}
	server := httptest.NewServer(a.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, err := io.ReadAll(r.Body)
			_, _ = fmt.Fprint(w, err)
		}
	}), func(w http.ResponseWriter, _ *http.Request, why *Refusal) { w.WriteHeader(why.Status) }))
	defer server.Close()
	const token = "Authorization: Bearer one\r\nContent-Type: application/json\r\n"
	for request, want := range map[string]string{
		"GET /livez HTTP/1.1\r\n": "",
		"GET /livez HTTP/1.1\r\nContent-Type: application/x-ndjson\r\n": "",
		"POST /hooks/f HTTP/1.1\r\n":                                    " 401 ",
		"POST /hooks/f HTTP/1.1\r\n" + token:                            "more slowly than",
		"POST /hooks/f?x HTTP/1.1\r\n" + token[:25+2]:                   " 415 ",
	} {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, request+"Host: h\r\nContent-Length: 5\r\n\r\n")
		answer, err := io.ReadAll(c)
		if err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("%q: %q, %v", request, answer, err)
		}
		_ = c.Close()
	}
}

// TestTokens checks that tokens are read again when the file changes, and that the old ones stay if
// that fails.
func TestTokens(t *testing.T) {
	all := newTokens(t)
	var logged []string
	all.log = func(text string) { logged = append(logged, text) }
	for _, step := range []struct {
		change  func()
		valid   string
		invalid string
		logs    int
	}{
		{func() {}, "two", "\n", 0},
		{func() { write(t, all.path, "three", 0o600) }, "three", "one", 0},
		{func() { write(t, all.path, "  \n", 0o600) }, "three", "", 1},
		{func() {}, "three", "", 1},
		{func() { _ = os.Remove(all.path) }, "three", "", 2},
		{func() { write(t, all.path, "four", 0o640) }, "four", "three", 2},
	} {
		step.change()
		all.looked = time.Time{}
		if !all.has(step.valid) || all.has(step.invalid) || len(logged) != step.logs {
			t.Errorf("%q is valid: %v, %q: %v; logged %q", step.valid, all.has(step.valid), step.invalid, all.has(step.invalid), logged)
		}
	}
	if runtime.GOOS != "windows" {
		write(t, all.path, "five", 0o604)
		if _, err := openTokens(all.path, nil); err == nil || !strings.Contains(err.Error(), "0604") {
			t.Errorf("a file that others can read: %v", err)
		}
	}
}

// TestOpen checks which addresses Open listens on, and which of them need a token.
func TestOpen(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	path := newTokens(t).path
	for _, c := range []struct {
		o    Options
		kind hook.Kind // empty if Open succeeds
		who  string
	}{
		{Options{Listen: []string{":0"}}, hook.Usage, ""},
		{Options{Listen: []string{"0.0.0.0:0"}}, hook.Usage, ""},
		{Options{Listen: []string{":0"}, NoToken: true}, "", "anybody"},
		{Options{Listen: []string{":0"}, TokenFile: path}, "", "token"},
		{Options{Listen: []string{"127.0.0.1:0"}, TokenFile: path + "x"}, hook.Usage, ""},
		{Options{Listen: []string{"localhost:0", "127.0.0.2:0"}, TokenFile: path, MaxConnections: 1}, "", "token"},
		{Options{Listen: []string{"127.0.0.1:0", busy.Addr().String()}, NoToken: true}, hook.Unavailable, ""},
		{Options{Listen: []string{"127.0.0.1:x"}, NoToken: true}, hook.Unavailable, ""},
	} {
		a, err := Open(t.Context(), c.o, func(string) {})
		if err != nil {
			if got := hook.AsError(err).Kind; got != c.kind || !knowsPeers && got == hook.Usage {
				t.Errorf("%+v: %v", c.o, err)
			}
			continue
		}
		if a.Who() != c.who || len(a.URLs()) != len(c.o.Listen) || strings.HasSuffix(a.URLs()[0], ":0") {
			t.Errorf("%+v: %s at %q", c.o, a.Who(), a.URLs())
		}
		a.Close()
	}
}

// TestStop checks that a stop loses no client that has connected, and refuses later ones.
func TestStop(t *testing.T) {
	a, err := Open(t.Context(), Options{Listen: []string{"127.0.0.1:0"}, NoToken: true, MaxConnections: 10}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	l := a.Listeners()[0]
	dial := func() error {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			defer c.Close()
		}
		return err
	}
	const clients = 3
	for range clients {
		if err := dial(); err != nil {
			t.Fatal(err)
		}
	}
	stopped := make(chan struct{})
	go func() { a.Stop(); close(stopped) }()
	for n := 0; ; n++ {
		c, err := l.Accept()
		if err == nil {
			c.Close()
			continue
		}
		if n != clients || !errors.Is(err, net.ErrClosed) {
			t.Errorf("%d connections are accepted, then %v", n, err)
		}
		break
	}
	<-stopped
	if err := dial(); runtime.GOOS == "linux" && !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a connection after the stop: %v", err)
	}
}

// TestPeer checks that the user at the other end of a connection is found, and is unknown after the
// connection is closed.
func TestPeer(t *testing.T) {
	if !knowsPeers {
		t.Skip("the user at the other end is unknown here")
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Log(err) // a system without IPv6
			continue
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		if uid, err := peerUID(server.LocalAddr(), server.RemoteAddr()); err != nil || uid != os.Geteuid() {
			t.Errorf("%s: user %d, %v", address, uid, err)
		}
		_ = c.Close()
		if uid, err := peerUID(server.LocalAddr(), server.RemoteAddr()); err == nil {
			t.Errorf("%s: a closed connection is of user %d", address, uid)
		}
	}
}

// TestFrozenReader checks that a connection ends in time if the client accepts nothing, but not if
// it is slow.
func TestFrozenReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		written := make(chan error)
		go func() {
			_, err := conn{ours}.Write(make([]byte, 3*writeSize))
			written <- err
		}()
		for range 5 { // so that writes are partial
			<-time.After(writeLimit - 2*writeStep)
			_, _ = io.ReadFull(theirs, make([]byte, 1000))
		}
		last := time.Now()
		if err := <-written; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(last) < writeLimit-writeStep || time.Since(last) > writeLimit {
			t.Errorf("after %v: %v", time.Since(last), err)
		}
	})
}
