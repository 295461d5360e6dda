package daemon

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/daemon/access"
	"github.com/pyplug/pyplug/runner/hook"
)

// pipes are the connections of a server without a network.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, open := <-p; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p <- theirs
	return ours, nil
}

func (p pipes) Close() error   { return nil } // the test closes the connections
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// TestSilentCall makes calls over TCP that send nothing for longer than any limit of a connection.
// Only a call's own limit ends it, and the connection serves the next call.
func TestSilentCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.hooks["wait"] = func(ctx context.Context, c hook.Call) (hook.Result, error) {
			select {
			case <-time.After(11 * time.Minute):
				return value("ended"), nil
			case <-ctx.Done():
				return hook.Result{}, hook.Ended(ctx, c.Hook, "", true)
			}
		}
		f.hooks["stream"] = func(ctx context.Context, c hook.Call) (hook.Result, error) {
			err := c.Emit(hook.Item{Value: []byte(`"first"`)})
			if err == nil {
				_, err = f.hooks["wait"](ctx, c)
			}
			return hook.Result{Streamed: true}, err
		}
		a, err := access.Open(t.Context(), access.Options{NoToken: true, Hosts: []string{"pyplug"}, MaxBody: 1000}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(Identity{Name: "silent"}, Options{Access: a, CallTimeout: time.Hour}, nil, nil)
		s.plugin = f
		close(s.ready)
		all := make(pipes)
		go func() { _ = s.tcp.Serve(all) }()
		client := &http.Client{Transport: &http.Transport{DialContext: all.dial, MaxConnsPerHost: 1}}
		for _, c := range []struct {
			path, want string
			after      time.Duration
		}{
			{"wait", `"ended"`, 11 * time.Minute},
			{"wait?timeout=10m59s", `"kind":"timeout"`, 10*time.Minute + 59*time.Second},
			{"stream", `{"done":true}`, 11 * time.Minute},
			{"stream?timeout=10m59s", `"kind":"timeout"`, 10*time.Minute + 59*time.Second},
		} {
			began := time.Now()
			r, err := client.Post("http://pyplug/hooks/"+c.path, jsonType, strings.NewReader("[]"))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r.Body)
			if took := time.Since(began); err != nil || took != c.after || !strings.Contains(string(text), c.want) {
				t.Errorf("%s: %s, %v after %v, want %s after %v", c.path, text, err, took, c.want, c.after)
			}
			_ = r.Body.Close()
		}
		client.CloseIdleConnections()
		close(all)
		_ = s.tcp.Close()
		s.endRequests(nil)
		s.stop(nil)
		s.kill()
	})
}
