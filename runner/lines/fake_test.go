package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// callerFunc is a Caller.
type callerFunc func(ctx context.Context, c hook.Call) (hook.Result, error)

func (f callerFunc) Call(ctx context.Context, c hook.Call) (hook.Result, error) { return f(ctx, c) }

// echoed answers a call with its hook and arguments.
func echoed(_ context.Context, c hook.Call) (hook.Result, error) {
	value := append(schema.AppendQuote([]byte("["), c.Hook), ',')
	switch {
	case len(c.Args.Words) > 0: // the line was text
		value = append(schema.AppendQuote(append(value, '['), c.Args.Words[0].Value), ']')
	case c.Args.JSON == nil:
		value = append(value, `"none"`...)
	}
	return valued(append(append(value, c.Args.JSON...), ']')), nil
}

func valued(value []byte) hook.Result { return hook.Result{Item: hook.Item{Value: value}} }

// errorText returns a short form of an error.
func errorText(_ int, e *hook.Error) json.RawMessage {
	return schema.Quote(string(e.Kind) + ": " + e.Error())
}

// options returns the options that most tests use.
func options(in io.Reader, out io.Writer) Options {
	return Options{In: in, Out: out, Error: errorText}
}

// answers runs an engine over a text, and returns its output and counts.
func answers(t *testing.T, caller hook.Caller, in string, change func(*Options)) (string, Counts) {
	t.Helper()
	var out bytes.Buffer
	o := options(strings.NewReader(in), &out)
	if change != nil {
		change(&o)
	}
	e := New(caller, o)
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String(), e.Counts()
}

// gate is an output that blocks writes until it is open.
type gate struct {
	mu   sync.Mutex
	got  bytes.Buffer
	open chan struct{} // closed when the gate is open
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) Write(b []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.got.Write(b)
}

func (g *gate) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.got.String()
}

// opened returns an open gate.
func opened() *gate {
	g := newGate()
	close(g.open)
	return g
}
