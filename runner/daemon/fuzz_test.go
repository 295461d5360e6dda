//go:build unix

package daemon

import (
	"context"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/wire"
)

// FuzzServer sends a daemon whatever comes: it does not panic, it ends the
// connection when that is over, and no other client minds.
func FuzzServer(f *testing.F) {
	runDir(f)
	session := newFake()
	session.hooks["stream"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		for range 1000 {
			if c.Emit == nil {
				break
			}
			if err := c.Emit(hook.Item{Value: make([]byte, 1000)}); err != nil {
				return hook.Result{}, &hook.Error{Kind: hook.Canceled, Begun: true, Err: err}
			}
		}
		for range c.Input {
		}
		return hook.Result{Streamed: true}, nil
	}
	d := start(f, session, Options{Grace: -1})
	c := open(f)
	build := []byte(wire.Build())
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), uint64(0), false)
	for seed := range uint64(40) {
		f.Add(build, seed, true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, seed uint64, framed bool) {
		conn, err := net.Dial("unix", d.Identity().Socket)
		if err != nil {
			t.Fatal(err)
		}
		if framed {
			raw = randomFrames(seed, raw)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = conn.Write(raw) // it may have been dropped
		_ = conn.Close()
		if _, err := c.Call(context.Background(), hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte("[]")}}); err != nil {
			t.Fatal(err)
		}
		runnertest.Until(t, "the connection is over", func() bool {
			d.Server.mu.Lock()
			defer d.Server.mu.Unlock()
			return len(d.Server.clients) == 1
		})
	})
}

// randomFrames are frames of a client, most of them plausible, and text within.
func randomFrames(seed uint64, text []byte) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	bodies := [][]byte{
		nil, text, []byte("stream\x00"), []byte("echo\x00a=1\x00"), []byte(`{"hook":"stream","items":true,"input":true}`),
		[]byte(`{"hook":"echo","args":[1]}`), []byte(`{"hook":"block","timeout_ms":1}`), []byte(`{"do":"status"}`),
		[]byte(`{"do":"describe"}`), []byte(`{"do":"restart"}`), wire.PutNumber(r.Uint32()), []byte(`{"hook":"nope","replay":true}`),
	}
	b := wire.Append(nil, wire.Hail, 0, []byte(wire.Build()))
	for range r.IntN(50) {
		kind := wire.Type(wire.ToDaemon[1+r.IntN(len(wire.ToDaemon)-1)])
		b = wire.Append(b, kind, r.Uint32N(5), bodies[r.IntN(len(bodies))])
	}
	return b[:len(b)-r.IntN(2)*r.IntN(len(b))]
}
