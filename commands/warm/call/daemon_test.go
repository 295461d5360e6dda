//go:build linux || darwin

package call

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

// session is a plugin in this process. Its hooks are the cases of Call.
type session struct {
	calls   atomic.Int32
	entered chan struct{} // a call of "wait" runs
	release chan struct{} // and ends when this is closed
	ended   chan error    // or has been cancelled
}

func (s *session) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	s.calls.Add(1)
	value := func(text string) (hook.Result, error) {
		return hook.Result{Item: hook.Item{Value: json.RawMessage(text)}}, nil
	}
	switch c.Hook {
	case "words":
		return value(string(schema.AppendQuote(nil, schema.QuoteLine(typed(c.Args.Words)))))
	case "null":
		return value("null")
	case "long":
		return value(`"` + strings.Repeat("x", maxResult) + `"`)
	case "bytes":
		return hook.Result{Item: hook.Item{Value: json.RawMessage("aGk="), Binary: true}}, nil
	case "items":
		for _, item := range []string{"1", "2"} {
			if err := c.Emit(hook.Item{Value: json.RawMessage(item)}); err != nil {
				return hook.Result{}, err
			}
		}
		return hook.Result{Streamed: true}, nil
	case "wait":
		s.entered <- struct{}{}
		select {
		case <-s.release:
			return value("1")
		case <-ctx.Done():
			s.ended <- context.Cause(ctx)
			return hook.Result{}, &hook.Error{Kind: hook.Canceled, Hook: c.Hook, Begun: true, Err: context.Cause(ctx)}
		}
	}
	return hook.Result{}, &hook.Error{Kind: hook.Failed, Hook: c.Hook, Begun: true, Err: errors.New("it raised")}
}

// typed are words as they were typed.
func typed(words []schema.Word) (all []string) {
	for _, word := range words {
		all = append(all, word.Typed)
	}
	return all
}

func (s *session) Replay(ctx context.Context, c hook.Call) (hook.Result, error) {
	return s.Call(ctx, c)
}
func (s *session) Describe(context.Context) (schema.Schema, error)  { return schema.Schema{}, nil }
func (s *session) Template(context.Context, string) ([]byte, error) { return nil, nil }
func (s *session) Probe(context.Context) error                      { return nil }
func (s *session) Status() hook.Status                              { return hook.Status{} }
func (s *session) Restart(context.Context, string) error            { return nil }
func (s *session) Drain(context.Context) error                      { return nil }
func (s *session) Close(context.Context) error                      { return nil }

// keep serves a session under the name "p".
func keep(t *testing.T, o daemon.Options) *session {
	t.Helper()
	base, err := os.MkdirTemp("/tmp", "warm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	t.Setenv("PYPLUG_RUN_DIR", filepath.Join(base, "pyplug"))
	server, err := daemon.Listen(daemon.Identity{Name: "p", Version: "v1"}, o)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{entered: make(chan struct{}, 1), release: make(chan struct{}), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, s) }() // ends with ctx
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestDaemon holds that a daemon answers the warm way, and that what is not plain
// is the answer to the same call in the ordinary way: none is made twice.
func TestDaemon(t *testing.T) {
	runnertest.NothingLeft(t)
	for name, c := range map[string]struct {
		hook  string
		words []string
		note  string
		line  string // what the warm way prints; empty: it is left
		value string // what the ordinary way gets then
		kind  hook.Kind
	}{
		"words":      {hook: "words", words: []string{"World", "a b", "n=2", "", ":=1"}, line: `"World 'a b' n=2 '' :=1"` + "\n"},
		"null":       {hook: "null", line: "null\n"},
		"noted":      {hook: "null", note: "it has changed", value: "null"},
		"too long":   {hook: "long", value: `"` + strings.Repeat("x", maxResult) + `"`},
		"bytes":      {hook: "bytes", value: "aGk="},
		"items":      {hook: "items", value: "1 2"},
		"a failure":  {hook: "raise", kind: hook.Failed},
		"late":       {hook: "wait", value: "1"},
		"not a word": {hook: "null", words: []string{":=nonsense"}, kind: hook.Request},
	} {
		t.Run(name, func(t *testing.T) {
			s := keep(t, daemon.Options{Note: func() string { return c.note }})
			line, left := hookCall{"p", c.hook, c.words}.answer()
			if left == nil {
				t.Fatal("nothing was sent")
			}
			close(s.release)
			client, err := daemon.Adopt(left)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if string(line) != c.line {
				t.Errorf("%.60q is printed, want %.60q", line, c.line)
			}
			if c.line != "" {
				return
			}
			var items []string
			r, err := client.Resume(t.Context(), func(item hook.Item) error {
				items = append(items, string(item.Value))
				return nil
			})
			if items != nil {
				r.Value = json.RawMessage(strings.Join(items, " "))
			}
			failed := (*hook.Error)(nil)
			if errors.As(err, &failed) != (c.kind != 0) || failed != nil && failed.Kind != c.kind || string(r.Value) != c.value {
				t.Errorf("%.60q, %v, want %.60q, %v", r.Value, err, c.value, c.kind)
			}
			if n := s.calls.Load(); n > 1 || n == 0 && c.kind != hook.Request {
				t.Errorf("called %d times", n)
			}
		})
	}
}

// TestDaemonCancels holds that a call ends whose caller is gone.
func TestDaemonCancels(t *testing.T) {
	runnertest.NothingLeft(t)
	s := keep(t, daemon.Options{})
	_, left := hookCall{name: "p", hook: "wait"}.answer()
	if left == nil {
		t.Fatal("nothing was sent")
	}
	soon(t, "the call runs", s.entered)
	local(left.Conn).close()
	if err := soon(t, "the call was cancelled", s.ended); err == nil {
		t.Error("no cause")
	}
}

// soon takes what comes through a channel, and fails the test when nothing does.
func soon[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(runnertest.WaitTimeout):
		t.Fatalf("waited %s in vain: %s", runnertest.WaitTimeout, what)
		panic("unreachable")
	}
}

// TestDaemonOfAnotherBuild holds that it calls nothing.
func TestDaemonOfAnotherBuild(t *testing.T) {
	runnertest.NothingLeft(t)
	s := keep(t, daemon.Options{})
	wire.Release = "another"
	defer func() { wire.Release = "" }()
	line, left := hookCall{name: "p", hook: "null"}.answer()
	if line != nil || left == nil {
		t.Fatalf("%q, %v", line, left)
	}
	client, err := daemon.Adopt(left)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var other *daemon.VersionError
	if _, err := client.Resume(t.Context(), nil); !errors.As(err, &other) || other.Daemon != "v1" {
		t.Errorf("%v", err)
	}
	if n := s.calls.Load(); n != 0 {
		t.Errorf("called %d times", n)
	}
}
