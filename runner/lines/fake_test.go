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

// echoed answers with the call itself.
func echoed(_ context.Context, c hook.Call) (hook.Result, error) {
	value := append(schema.AppendQuote([]byte("["), c.Hook), ',')
	switch {
	case len(c.Args.Words) > 0: // of a line that is text
		value = append(schema.AppendQuote(append(value, '['), c.Args.Words[0].Value), ']')
	case c.Args.JSON == nil:
		value = append(value, `"none"`...)
	}
	return valued(append(append(value, c.Args.JSON...), ']')), nil
}

func valued(value []byte) hook.Result { return hook.Result{Item: hook.Item{Value: value}} }

// errorText is a short form of errors.
func errorText(_ int, e *hook.Error) json.RawMessage {
	return schema.Quote(string(e.Kind) + ": " + e.Error())
}

// options are those of most tests.
func options(in io.Reader, out io.Writer) Options {
	return Options{In: in, Out: out, Error: errorText}
}

// answers runs an engine over a text, and returns what it wrote.
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

// gate is an output that takes what it is given only when it is open.
type gate struct {
	mu   sync.Mutex
	got  bytes.Buffer
	open chan struct{} // closed when it is
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

// opened is an output that takes all, and may be looked at meanwhile.
func opened() *gate {
	g := newGate()
	close(g.open)
	return g
}
