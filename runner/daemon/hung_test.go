package daemon

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// hung starts a daemon that accepts connections but never answers.
func hung(t *testing.T) {
	needSockets(t)
	dir := nothingLeft(t)
	if err := makeDir(dir); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "p.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p.json"), []byte(`{"name":"p","pid":1,"api":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // ends with the listener
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
		}
	}()
	before := defaultChecks
	defaultChecks = checks{10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond}
	t.Cleanup(func() { _ = l.Close(); <-done; defaultChecks = before })
}

// TestHung checks that a request to a daemon that hangs fails.
func TestHung(t *testing.T) {
	hung(t)
	c := open(t)
	big := hook.Args{JSON: []byte(`["` + strings.Repeat("x", 4<<20) + `"]`)} // larger than the socket's buffer
	for name, do := range map[string]func() error{
		"call":     func() error { _, err := c.Call(ctx0, hook.Call{Hook: "echo"}); return err },
		"big call": func() error { _, err := c.Call(ctx0, hook.Call{Hook: "echo", Args: big}); return err },
		"hooks":    func() error { _, err := c.Hooks(ctx0, schema.Query{}); return err },
		"restart":  func() error { return c.Restart(ctx0, "") },
		"ready":    func() error { _, _, err := c.Ready(ctx0); return err },
	} {
		if err := do(); !Is(err, Unresponsive) || kindOf(t, err) != hook.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := hook.WithLimit(ctx0, time.Millisecond)
	defer cancel()
	<-ctx.Done() // the limit ends before the first check of the daemon
	_, err := c.Call(ctx, hook.Call{Hook: "echo"})
	if kindOf(t, err) != hook.Timeout || !Is(err, Unresponsive) || !strings.Contains(err.Error(), "which does not respond") {
		t.Errorf("a call with a limit: %v", err)
	}
}

// TestCancelConnect checks that a canceled request does not wait for a daemon that accepts no
// connections yet.
func TestCancelConnect(t *testing.T) {
	dir := nothingLeft(t)
	p := place{dir: dir, name: "p"}
	if err := makeDir(dir); err != nil {
		t.Fatal(err)
	}
	h, err := p.acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer h.release()
	ctx, cancel := context.WithCancelCause(ctx0)
	cancel(errors.New("ctrl-c"))
	if _, err := (&Client{place: p}).Call(ctx, hook.Call{Hook: "echo"}); kindOf(t, err) != hook.Canceled || err.Error() != "ctrl-c" || hook.AsError(err).Begun {
		t.Errorf("got %v", err)
	}
}

// dying starts a daemon "p". For each call, it writes the next text from the channel as the answer
// and closes the connection.
func dying(t *testing.T) (next chan<- string) {
	t.Helper()
	needSockets(t)
	dir := nothingLeft(t)
	if err := makeDir(dir); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "p.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p.json"), []byte(`{"name":"p","pid":1,"api":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	answers := make(chan string, 1)
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil && r.Method == http.MethodPost { // the client's checks of the daemon get no answer
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = c.Write([]byte(<-answers))
			}
			_ = c.Close()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		work.Wait()
	})
	return answers
}

// TestDaemonDies checks that the end of a daemon during a call is reported, and that the call
// counts as begun.
func TestDaemonDies(t *testing.T) {
	answers := []string{"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nPyplug-Api: 1\r\nContent-Length: 5\r\n\r\n[1",
		"HTTP/1.1 200 OK\r\nPyplug-Api: 1\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n{\"item\":1}\n",
		"HTTP/1.1 500 Oops\r\nPyplug-Api: 1\r\nContent-Length: 2\r\n\r\nno", "nonsense\r\n\r\n"}
	next := dying(t)
	c := open(t)
	for _, answer := range answers {
		next <- answer
		_, err := c.Call(ctx0, hook.Call{Hook: "echo", Emit: func(hook.Item) error { return nil }})
		if e := hook.AsError(err); !Is(err, Lost) || !e.Begun || e.Kind != hook.Unavailable || e.Hook != "echo" {
			t.Errorf("%q: %+v", answer, e)
		}
	}
	next <- "HTTP/1.1 200 OK\r\nPyplug-Api: 2\r\nContent-Length: 1\r\n\r\n1"
	if _, err := c.Call(ctx0, hook.Call{Hook: "echo"}); !Is(err, OtherVersion) {
		t.Errorf("another version: %v", err)
	}
}

// TestAdopt checks that Adopt continues a call that was already sent, with the part of the answer
// that was read.
func TestAdopt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot pass on a connection")
	}
	nothingLeft(t)
	f := newFake()
	f.hooks["stream"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		for _, item := range []string{"1", "2"} {
			if err := c.Emit(hook.Item{Value: []byte(item)}); err != nil {
				return hook.Result{}, err
			}
		}
		return hook.Result{Streamed: true}, nil
	}
	d := start(t, f, Options{})
	for _, n := range []int{0, 1, 30, 150} {
		conn, err := net.Dial("unix", string(d.Identity().Socket))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("POST /hooks/stream HTTP/1.1\r\nHost: p\r\nContent-Length: 0\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		read := make([]byte, n)
		for got := 0; got < n; {
			m, err := conn.Read(read[got:])
			if err != nil {
				t.Fatal(err)
			}
			got += m
		}
		file, err := conn.(*net.UnixConn).File()
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		c, err := Adopt(filepath.Dir(string(d.Identity().Socket)), "p", file, read)
		if err != nil {
			t.Fatal(err)
		}
		items := ""
		emit := func(item hook.Item) error { items += string(item.Value); return nil }
		if _, err := c.Call(ctx0, hook.Call{Hook: "stream", Emit: emit}); err != nil || items != "12" || c.Identity().PID != os.Getpid() {
			t.Errorf("after %d bytes: %s, %v", n, items, err)
		}
	}
}
