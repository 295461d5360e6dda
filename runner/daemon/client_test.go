package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

var ctx0 = context.Background()

// TestCall checks that a value arrives unchanged, with its notes and its sole field.
func TestCall(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	results := map[string]hook.Result{
		"json":   {Item: hook.Item{Value: json.RawMessage(`{"a": "<b>é ", "n":1.10}`)}},
		"bytes":  {Item: hook.Item{Value: []byte("\x00\xff"), Binary: true}},
		"sole":   {Item: hook.Item{Value: json.RawMessage(`{"n":"3","text":"hü"}`), Sole: "text"}},
		"binary": {Item: hook.Item{Value: json.RawMessage(`{"data":"AP8="}`), Sole: "data" + hook.SoleBytes}},
		"empty":  {Item: hook.Item{Value: json.RawMessage(`{}`), Sole: "text"}},
		"notes":  {Item: hook.Item{Value: json.RawMessage(`1`)}, Notes: []string{"geändert: 😀", "b"}},
		"a/b.C ": {Item: hook.Item{Value: json.RawMessage(`true`)}},
		"..":     {Item: hook.Item{Value: json.RawMessage(`2`)}},
	}
	for name, r := range results {
		f.hooks[name] = func(context.Context, hook.Call) (hook.Result, error) { return r, nil }
	}
	start(t, f, Options{})
	c := open(t)
	for name, want := range results {
		got, err := c.Call(ctx0, hook.Call{Hook: name})
		if got.Took <= 0 {
			t.Errorf("%s: it took %s", name, got.Took)
		}
		if got.Took = 0; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
	big := `["` + strings.Repeat("x", 5<<20) + `"]`
	if r, err := c.Call(ctx0, hook.Call{Hook: "echo", Args: hook.Args{JSON: json.RawMessage(big)}}); err != nil || string(r.Value) != big {
		t.Errorf("a long value: %d bytes, %v", len(r.Value), err)
	}
	if _, err := c.Call(ctx0, hook.Call{Hook: "echo", Args: hook.Args{JSON: json.RawMessage("[]")}, Replay: true}); err != nil || !reflect.DeepEqual(f.replayed, []string{"echo"}) {
		t.Errorf("replayed %q, %v", f.replayed, err)
	}
}

// TestWords checks that words arrive as they were lexed, in any encoding, with the files that they
// name.
func TestWords(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	var got []schema.Word
	f.hooks["take"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		got = c.Args.Words
		return value(1), nil
	}
	start(t, f, Options{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("text \xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	typed := []string{"a", "a=b", "=a=b", ":=[1]", "n:={\"a\":1}", "-5", "", "http://x?a=b", "caf\xe9", "n=\xff", "n@=" + file}
	words, err := schema.ParseWords(typed, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(t).Call(ctx0, hook.Call{Hook: "take", Args: hook.Args{Words: words}}); err != nil {
		t.Fatal(err)
	}
	for i, w := range words {
		if got[i].Name != w.Name || got[i].Form != w.Form || got[i].Value != w.Value || got[i].Typed != w.Typed {
			t.Errorf("got %+v, want %+v", got[i], w)
		}
	}
}

// TestItems checks that items arrive one by one, and that the last line says how the stream ended.
func TestItems(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	f.hooks["stream"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		for i := range 1000 {
			if err := c.Emit(hook.Item{Value: fmt.Appendf(nil, `{"text":"<%d>"}`, i), Sole: "text"}); err != nil {
				return hook.Result{}, err
			}
		}
		return hook.Result{Streamed: true, Notes: []string{"n"}}, nil
	}
	f.hooks["none"] = func(context.Context, hook.Call) (hook.Result, error) { return hook.Result{Streamed: true}, nil }
	f.hooks["fails"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		_ = c.Emit(hook.Item{Value: json.RawMessage("1"), Binary: true})
		return hook.Result{}, &hook.Error{Kind: hook.Failed, Hook: c.Hook, Begun: true, Python: &hook.Raised{Type: "ValueError", Message: "no"}}
	}
	f.hooks["nan"] = func(_ context.Context, c hook.Call) (hook.Result, error) { // returns values as with --nan literal
		return hook.Result{Streamed: true}, errors.Join(c.Emit(hook.Item{Value: []byte("[NaN]")}), c.Emit(hook.Item{Value: []byte("null")}))
	}
	start(t, f, Options{})
	c := open(t)
	var items []hook.Item
	emit := func(i hook.Item) error { items = append(items, i); return nil }
	r, err := c.Call(ctx0, hook.Call{Hook: "stream", Emit: emit})
	if err != nil || len(items) != 1000 || !r.Streamed || r.Value != nil || len(r.Notes) != 1 {
		t.Errorf("%d items, %+v, %v", len(items), r, err)
	}
	if last := items[len(items)-1]; string(last.Value) != `{"text":"<999>"}` || last.Sole != "text" {
		t.Errorf("the last is %s, %s", last.Value, last.Sole)
	}
	if r, err := c.Call(ctx0, hook.Call{Hook: "none"}); err != nil || !r.Streamed || r.Value != nil {
		t.Errorf("none: %+v, %v", r, err)
	}
	items = nil
	_, err = c.Call(ctx0, hook.Call{Hook: "fails", Emit: emit})
	if kindOf(t, err) != hook.Failed || err.Error() != "ValueError: no" || len(items) != 1 || !items[0].Binary {
		t.Errorf("got %v after %+v", err, items)
	}
	items = nil
	if _, err := c.Call(ctx0, hook.Call{Hook: "nan", Emit: emit}); err != nil || len(items) != 2 || string(items[0].Value) != "[NaN]" || string(items[1].Value) != "null" {
		t.Errorf("NaN: got %v after %v", err, items)
	}
	broken := &hook.Error{Kind: hook.Failed, Err: errors.New("enough")}
	if _, err := c.Call(ctx0, hook.Call{Hook: "stream", Emit: func(hook.Item) error { return broken }}); !errors.Is(err, broken.Err) {
		t.Errorf("an item that is not taken: %v", err)
	}
}

// TestInput checks that a client stream is read as it arrives, while items are sent.
func TestInput(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	f.hooks["double"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		for v, err := range c.Input {
			if err != nil {
				return hook.Result{}, &hook.Error{Kind: hook.Request, Hook: c.Hook, Begun: true, Err: err}
			}
			if err := c.Emit(hook.Item{Value: v}); err != nil {
				return hook.Result{}, err
			}
		}
		return hook.Result{Streamed: true}, nil
	}
	f.hooks["early"] = func(context.Context, hook.Call) (hook.Result, error) { return value("early"), nil }
	start(t, f, Options{})
	c := open(t)
	answered := make(chan struct{}, 1)
	input := func(n int, fault error) iter.Seq2[json.RawMessage, error] {
		return func(yield func(json.RawMessage, error) bool) {
			for i := range n {
				if !yield(fmt.Appendf(nil, "{\"n\":%d}", i), nil) {
					return
				}
				<-answered // wait for the item of the previous message, so that both directions are open at once
			}
			if fault != nil {
				yield(nil, fault)
			}
		}
	}
	count := 0
	emit := func(hook.Item) error { count++; answered <- struct{}{}; return nil }
	if _, err := c.Call(ctx0, hook.Call{Hook: "double", Input: input(20, nil), Emit: emit}); err != nil || count != 20 {
		t.Errorf("%d items, %v", count, err)
	}
	fault := errors.New("line 3 is wrong")
	if _, err := c.Call(ctx0, hook.Call{Hook: "double", Input: input(2, fault), Emit: emit}); !errors.Is(err, fault) || kindOf(t, err) != hook.Request {
		t.Errorf("got %v, want the fault of the input", err)
	}
	endless := func(yield func(json.RawMessage, error) bool) {
		for yield(json.RawMessage("1"), nil) {
		}
	}
	if r, err := c.Call(ctx0, hook.Call{Hook: "early", Input: endless}); err != nil || string(r.Value) != `"early"` {
		t.Errorf("an answer before the end of the input: %s, %v", r.Value, err)
	}
}

// TestRequests checks the requests that do not call a hook.
func TestRequests(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	start(t, f, Options{Notes: func() []string { return []string{"changed"} }})
	c := open(t)
	if s, err := c.Hooks(ctx0, schema.Query{}); err != nil || s.Hooks[0].Name != "echo" {
		t.Errorf("hooks %+v, %v", s, err)
	}
	if s, err := c.Hooks(ctx0, schema.Query{Hook: "a/b"}); err != nil || s.Hooks[0].Name != "echoa/b" {
		t.Errorf("one hook %+v, %v", s, err)
	}
	want, _ := f.Status(ctx0)
	want.LastExit.Code = -1
	if st, err := c.Status(ctx0); err != nil || !reflect.DeepEqual(st, want) {
		t.Errorf("status %+v, %v", st, err)
	}
	if _, notes, err := c.Ready(ctx0); err != nil || !reflect.DeepEqual(notes, []string{"changed"}) {
		t.Errorf("notes %q, %v", notes, err)
	}
	if err := c.Health(ctx0); err != nil {
		t.Error(err)
	}
	f.health = &hook.Error{Kind: hook.Unhealthy, Err: errors.New("no disk")}
	if err := c.Health(ctx0); kindOf(t, err) != hook.Unhealthy || err.Error() != "no disk" {
		t.Errorf("health: %v", err)
	}
	if err := c.Restart(ctx0, "why not"); err != nil || !reflect.DeepEqual(f.reasons, []string{"why not"}) {
		t.Errorf("restart: %q, %v", f.reasons, err)
	}
	f.events <- hook.Event{Generation: 2, To: hook.StateReady, Reason: "it started"}
	for e, err := range c.Events(ctx0) {
		if err != nil || e.Generation != 2 || e.To != hook.StateReady || e.Reason != "it started" {
			t.Errorf("event %+v, %v", e, err)
		}
		break
	}
}

// TestErrors checks that an error arrives with all its fields.
func TestErrors(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	failure := &hook.Error{Kind: hook.Crash, Hook: "fail", Begun: true, Exit: &hook.Exit{Code: 3, Stderr: []string{"caf\xe9"}},
		At: []hook.Frame{{File: "a.py", Line: 2}}, Err: errors.New("it <ended>")}
	f.hooks["fail"] = func(context.Context, hook.Call) (hook.Result, error) { return hook.Result{}, failure }
	f.hooks["panic"] = func(context.Context, hook.Call) (hook.Result, error) { panic("a bug") }
	start(t, f, Options{Complete: func(err error) *hook.Error {
		e := *hook.AsError(err)
		e.Hints = append(e.Hints, schema.Hintf("look at it"))
		return &e
	}})
	c := open(t)
	_, err := c.Call(ctx0, hook.Call{Hook: "fail"})
	e := (*hook.Error)(nil)
	if !errors.As(err, &e) || e.Kind != hook.Crash || !e.Begun || e.Exit.Code != 3 || e.Exit.Stderr[0] != "caf\ufffd" || len(e.At) != 1 ||
		err.Error() != "it <ended>" || hook.Word(e.Hints[0]) != "look at it" {
		t.Errorf("got %+v", e)
	}
	if _, err := c.Call(ctx0, hook.Call{Hook: "nope"}); kindOf(t, err) != hook.Request || !Is(err, "no-hook") {
		t.Errorf("got %v", err)
	}
	if _, err := c.Call(ctx0, hook.Call{Hook: "panic"}); kindOf(t, err) != hook.Internal || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("a panic: %v", err)
	}
	if _, err := c.Call(ctx0, hook.Call{Hook: "echo", Args: hook.Args{JSON: json.RawMessage("7")}}); kindOf(t, err) != hook.Request {
		t.Errorf("arguments that are none: %v", err)
	}
}

// TestCancel checks that canceling a call, or its timeout, ends only that call.
func TestCancel(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	ended := make(chan error, 2)
	block := f.hooks["block"]
	f.hooks["block"] = func(ctx context.Context, c hook.Call) (hook.Result, error) {
		r, err := block(ctx, c)
		ended <- err
		return r, err
	}
	start(t, f, Options{CallTimeout: time.Hour})
	c := open(t)
	runnertest.Retry(t, func() error {
		ctx, cancel := hook.WithLimit(ctx0, 30*time.Millisecond)
		defer cancel()
		_, err := c.Call(ctx, hook.Call{Hook: "block"})
		e := hook.AsError(err)
		if e.Kind != hook.Timeout {
			t.Fatalf("got %+v", e)
		}
		if !e.Begun {
			return err // the limit ended before the plugin received the call
		}
		if len(e.At) != 1 {
			t.Errorf("got %+v", e)
		}
		if err := <-ended; kindOf(t, err) != hook.Timeout {
			t.Errorf("the plugin saw %v", err)
		}
		return nil
	})
	ctx, interrupt := context.WithCancelCause(ctx0)
	result := make(chan error, 1)
	go func() { _, err := c.Call(ctx, hook.Call{Hook: "block"}); result <- err }()
	f.awaitCall(t)
	interrupt(errors.New("ctrl-c"))
	if err := <-result; kindOf(t, err) != hook.Canceled || err.Error() != "ctrl-c" {
		t.Errorf("got %v", err)
	}
	if err := <-ended; kindOf(t, err) != hook.Canceled {
		t.Errorf("the plugin saw %v", err)
	}
}

// TestSlowReader checks that a slow reader delays only its own call, and no stop.
func TestSlowReader(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	begun := make(chan struct{})
	f.hooks["stream"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		close(begun)
		for {
			if err := c.Emit(hook.Item{Value: []byte(`"` + strings.Repeat("x", 1<<16) + `"`)}); err != nil {
				return hook.Result{}, &hook.Error{Kind: hook.Canceled, Begun: true, Err: err}
			}
		}
	}
	d := start(t, f, Options{})
	c := open(t)
	conn, err := net.Dial("unix", string(d.Identity().Socket))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("POST /hooks/stream?timeout=100ms HTTP/1.1\r\nHost: p\r\nContent-Length: 0\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	<-begun
	if _, err := c.Call(ctx0, hook.Call{Hook: "echo", Args: hook.Args{JSON: json.RawMessage("[]")}}); err != nil {
		t.Error(err)
	}
	runnertest.Until(t, "the call is over", func() bool {
		d.Server.mu.Lock()
		defer d.Server.mu.Unlock()
		return d.Server.calls == 0
	})
}

// TestLimitToSend checks that an error names the limit that the user set, unless part of it has
// passed.
func TestLimitToSend(t *testing.T) {
	for want, c := range map[string][2]time.Duration{
		"300ms": {252 * time.Millisecond, 300 * time.Millisecond},
		"1ms":   {-time.Second, time.Millisecond},
		"2m0s":  {2*time.Minute - time.Millisecond, 2 * time.Minute},
		"1.5s":  {1500*time.Millisecond + 300, 30 * time.Second},
		"7ms":   {7 * time.Millisecond, 0},
	} {
		if got := limitToSend(c[0], c[1]).String(); got != want {
			t.Errorf("%v: got %s, want %s", c, got, want)
		}
	}
}
