package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

var testBegan = time.Now()

func TestCalls(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	f.hooks["bytes"] = func(context.Context, hook.Call) (hook.Result, error) {
		return hook.Result{Item: hook.Item{Value: []byte("aGVsbG8="), Binary: true}, Took: 1500 * time.Microsecond}, nil
	}
	f.hooks["sole"] = func(context.Context, hook.Call) (hook.Result, error) {
		return hook.Result{Item: hook.Item{Value: []byte(`{"a":"x"}`), Sole: &hook.Sole{Text: "x"}}}, nil
	}
	f.hooks["all"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		if c.Emit != nil {
			t.Error("items were asked for, want them collected")
		}
		return hook.Result{Item: hook.Item{Value: []byte(`[1,2]`)}, Streamed: true}, nil
	}
	start(t, f, Options{})
	c := open(t)
	ctx := context.Background()
	for name, want := range map[string]hook.Result{
		"bytes": {Item: hook.Item{Value: []byte("aGVsbG8="), Binary: true}, Took: 1500 * time.Microsecond},
		"sole":  {Item: hook.Item{Value: []byte(`{"a":"x"}`), Sole: &hook.Sole{Text: "x"}}},
		"all":   {Item: hook.Item{Value: []byte(`[1,2]`)}, Streamed: true},
	} {
		got, err := c.Call(ctx, hook.Call{Hook: name})
		if want.Took == 0 {
			got.Took = 0
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
	big := json.RawMessage(`["` + strings.Repeat("x", 3<<20) + `"]`)
	if r, err := c.Call(ctx, hook.Call{Hook: "echo", Args: hook.Args{JSON: big}}); err != nil || string(r.Value) != string(big) {
		t.Errorf("3 MB came back as %d bytes, %v", len(r.Value), err)
	}
	if _, err := c.Replay(ctx, hook.Call{Hook: "echo"}, 0); err != nil || !slices.Equal(f.replayed, []string{"echo"}) {
		t.Errorf("replayed %v, %v", f.replayed, err)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Words are read at the other end as they are here, and files only here.
func TestWords(t *testing.T) {
	nothingLeft(t)
	file := filepath.Join(t.TempDir(), "f.json")
	if err := os.WriteFile(file, []byte("\uFEFF{\"a\": 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	typed := []string{"plain", "n=5", "=a=b", ":=[1]", "x:=2", "t@=" + file, ":=@" + file, "j:=@" + file, "-5", "", "a-b@=" + file, "caf\xe9"}
	words, err := schema.ParseWords(typed, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	var got []schema.Word
	f.hooks["take"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		got = c.Args.Words
		return hook.Result{}, nil
	}
	start(t, f, Options{})
	if _, err := open(t).Call(context.Background(), hook.Call{Hook: "take", Args: hook.Args{Words: words}}); err != nil {
		t.Fatal(err)
	}
	dashed := func(name string) bool { return name == "a-b" }
	for i, want := range words {
		here, err1 := want.Respell(dashed)
		there, err2 := got[i].Respell(dashed)
		if err1 != nil || err2 != nil || asJSON(t, here) != asJSON(t, there) || here.Value != there.Value {
			t.Errorf("%q: got %+v, %v, want %+v, %v", typed[i], there, err2, here, err1)
		}
	}
}

// What happens to a stream's items: all come, in order, and no more are under way
// than the window allows.
func TestItems(t *testing.T) {
	nothingLeft(t)
	const n = 3000
	item := `"` + strings.Repeat("x", 1000) + `"`
	sent := 0
	f := newFake()
	f.hooks["stream"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		for sent = range n {
			if err := c.Emit(hook.Item{Value: []byte(item), Binary: sent == 5}); err != nil {
				return hook.Result{}, &hook.Error{Kind: hook.Canceled, Begun: true, Err: err}
			}
		}
		return hook.Result{Streamed: true}, nil
	}
	d := start(t, f, Options{})
	c := open(t)
	got, binary := 0, 0
	r, err := c.Call(context.Background(), hook.Call{Hook: "stream", Emit: func(i hook.Item) error {
		got++
		if i.Binary {
			binary++
		}
		return nil
	}})
	if err != nil || got != n || binary != 1 || !r.Streamed || r.Value != nil {
		t.Errorf("got %d items, %d of bytes, %+v, %v, want %d", got, binary, r, err, n)
	}
	full := errors.New("the disk is full")
	got = 0
	_, err = c.Call(context.Background(), hook.Call{Hook: "stream", Emit: func(hook.Item) error {
		if got++; got == 3 {
			return full
		}
		return nil
	}})
	if !errors.Is(err, full) || kindOf(t, err) != hook.Canceled {
		t.Errorf("got %v, want what Emit said", err)
	}
	d.stop() // and with it the call
	if most := 3 + wire.Window/len(item) + wire.Window/8/len(item) + 2; sent > most {
		t.Errorf("%d items were sent to who took 3, want at most %d", sent, most)
	}
}

func TestInput(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	f.hooks["collect"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		n := 0
		for item, err := range c.Input {
			if err != nil {
				return hook.Result{}, &hook.Error{Kind: hook.Request, Hook: c.Hook, Err: fmt.Errorf("input message %d: %w", n+1, err)}
			}
			if n++; string(item) == `"stop"` {
				break
			}
		}
		return value(n), nil
	}
	start(t, f, Options{})
	c := open(t)
	large := json.RawMessage(`"` + strings.Repeat("x", 10_000) + `"`)
	input := func(n int, last json.RawMessage, fault error) iter.Seq2[json.RawMessage, error] {
		return func(yield func(json.RawMessage, error) bool) {
			for range n {
				if !yield(large, nil) {
					return
				}
			}
			if last != nil || fault != nil {
				yield(last, fault)
			}
		}
	}
	call := func(in iter.Seq2[json.RawMessage, error]) (string, error) {
		r, err := c.Call(context.Background(), hook.Call{Hook: "collect", Input: in})
		return string(r.Value), err
	}
	if got, err := call(input(500, nil, nil)); got != "500" || err != nil {
		t.Errorf("got %s, %v, want 500", got, err)
	}
	if got, err := call(input(0, nil, nil)); got != "0" || err != nil {
		t.Errorf("got %s, %v, want 0", got, err)
	}
	if got, err := call(input(2, json.RawMessage(`"stop"`), nil)); got != "3" || err != nil {
		t.Errorf("got %s, %v, want 3", got, err)
	}
	bad := errors.New("line 3 is not JSON")
	if _, err := call(input(2, nil, bad)); !errors.Is(err, bad) || err.Error() != "input message 3: line 3 is not JSON" || kindOf(t, err) != hook.Request {
		t.Errorf("got %v, want what the input said", err)
	}
}

func TestMessages(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	start(t, f, Options{})
	c := open(t)
	ctx := context.Background()
	go func() { _, _ = c.Call(ctx, hook.Call{Hook: "block"}) }() // ends with the client
	if _, err := c.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Status(ctx); err != nil || asJSON(t, got) != asJSON(t, f.Status()) {
		t.Errorf("status %+v, %v", got, err)
	}
	want, _ := f.Describe(ctx)
	if got, err := c.Describe(ctx); err != nil || asJSON(t, got) != asJSON(t, want) {
		t.Errorf("hooks %+v, %v", got, err)
	}
	if got, err := c.Template(ctx, "echo"); err != nil || string(got) != "{\n  \"hook\": \"echo\"\n}\n" {
		t.Errorf("template %q, %v", got, err)
	}
	if err := c.Restart(ctx, "told to"); err != nil || !slices.Equal(f.reasons, []string{"told to"}) {
		t.Errorf("restart: %v, %v", f.reasons, err)
	}
	if err := c.Probe(ctx); err != nil {
		t.Error(err)
	}
	f.probe = &hook.Error{Kind: hook.Unhealthy, Err: errors.New("no disk")}
	if err := c.Probe(ctx); err == nil || err.Error() != "no disk" || kindOf(t, err) != hook.Unhealthy {
		t.Errorf("probe: %v", err)
	}
	if got := c.Identity(); got.Entry != "/x/p.py" || got.PID != os.Getpid() || got.Mark == "" || got.Boot == "" {
		t.Errorf("identity %+v", got)
	}
	if err := c.message(ctx, message{Do: "dance"}, nil); kindOf(t, err) != hook.Internal {
		t.Error(err)
	}
}

// Ctrl-C and a limit end one call, tell where it was, and no other call minds.
func TestCancel(t *testing.T) {
	nothingLeft(t)
	start(t, newFake(), Options{CallTimeout: time.Hour, Context: func(error) []string { return []string{"plugin: p.py"} }})
	c := open(t)
	interrupted := errors.New("interrupted by the user")
	ctx, cancel := context.WithCancelCause(context.Background())
	var other sync.WaitGroup
	blocked, stop := context.WithCancel(context.Background())
	other.Go(func() { _, _ = c.Call(blocked, hook.Call{Hook: "block"}) })
	go cancel(interrupted)
	_, err := c.Call(ctx, hook.Call{Hook: "block"})
	e := (*hook.Error)(nil)
	if !errors.As(err, &e) || e.Kind != hook.Canceled || !errors.Is(err, interrupted) {
		t.Errorf("got %v, want what ended the context", err)
	}
	_, err = c.CallWithin(context.Background(), hook.Call{Hook: "block"}, 30*time.Millisecond)
	var (
		limit *hook.LimitError
		told  *hook.ToldError
	)
	if !errors.As(err, &limit) || !errors.As(err, &told) || len(told.Context) != 1 {
		t.Errorf("got %v with %+v, want the limit and the plugin", err, told)
	}
	if !errors.As(err, &e) || e.Kind != hook.Timeout || len(e.At) != 1 || e.At[0].Function != "block" ||
		err.Error() != "no result within 30ms" {
		t.Errorf("got %v at %v", err, e.At)
	}
	if _, err := c.Call(context.Background(), hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte("[]")}}); err != nil {
		t.Error(err)
	}
	stop()
	other.Wait()
}

// An error looks the same at both ends.
func TestErrors(t *testing.T) {
	nothingLeft(t)
	start(t, newFake(), Options{
		Hints:   func(err error) []string { return []string{"try " + err.Error()} },
		Context: func(error) []string { return []string{"plugin: p.py"} },
	})
	_, err := open(t).Call(context.Background(), hook.Call{Hook: "nope"})
	var told *hook.ToldError
	if !errors.As(err, &told) || kindOf(t, err) != hook.Request || err.Error() != "no such hook" ||
		!slices.Equal(told.Hints, []string{"try no such hook"}) || !slices.Equal(told.Context, []string{"plugin: p.py"}) {
		t.Errorf("got %v, %+v", err, told)
	}
}
