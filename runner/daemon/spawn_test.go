package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// TestMain is also the daemon that Spawn starts in these tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "__daemon" {
		os.Exit(asDaemon(os.Args[2]))
	}
	os.Exit(m.Run())
}

// asDaemon runs a daemon that behaves as its mode says.
func asDaemon(mode string) int {
	starter := OpenStarter()
	complete := func(err error) *hook.Error {
		e := *hook.AsError(err)
		e.Hints = append(e.Hints, schema.Hintf("look at it"))
		return &e
	}
	switch mode {
	case "starter":
		_, _ = io.Copy(io.Discard, os.Stdin)
		if _, err := Spawn(ctx0, []string{"__daemon", "good"}, nil, func(text string) { fmt.Println(text) }); err != nil {
			fmt.Println(err)
			return 1
		}
		return 0
	case "dies":
		panic("what it said last")
	case "early":
		starter.Fail(complete(&hook.Error{Kind: hook.Usage, Err: errors.New("no such plugin")}))
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := Listen(Identity{Name: "p", Entry: "/x/p.py", Version: "1.0"}, Options{Starter: starter, Complete: complete})
	if err != nil {
		starter.Fail(complete(err))
		return 2
	}
	fmt.Fprintln(os.Stderr, "this is in the log")
	f := newFake()
	f.hooks["about"] = func(context.Context, hook.Call) (hook.Result, error) { return value(surroundings()), nil }
	f.hooks["turn"] = func(context.Context, hook.Call) (hook.Result, error) {
		s.log.max = 1000
		s.log.Add(Line{Stream: Own, Text: strings.Repeat("x", 2000)})
		s.log.Add(Line{Stream: Own, Text: "turned"})
		return hook.Result{}, nil
	}
	f.hooks["panic"] = func(context.Context, hook.Call) (hook.Result, error) {
		go panic("a bug") // no handler recovers it
		select {}
	}
	switch mode {
	case "fails":
		starter.Note("it takes its time")
		s.Fail(&hook.Error{Kind: hook.Start, Python: &hook.Raised{Type: "ImportError", Message: "no numpy"}})
		return 5
	case "hangs":
		starter.Note("hanging")
		select {
		case <-ctx.Done():
		case <-s.Stopping().Done():
		}
		s.Fail(hook.Ended(ctx, "", "no start", false))
		return 5
	}
	err = s.Serve(ctx, f)
	if mode == "lingers" {
		for range 200 { // delays the exit, so that the process outlives its name
			runtime.GC()
		}
	}
	if err != nil {
		return 1
	}
	return 0
}

// spawned starts a daemon in the background. It ends with the test.
func spawned(t *testing.T, mode string) (Identity, error) {
	t.Helper()
	if mode != "early" && mode != "dies" {
		needSockets(t)
	}
	id, err := Spawn(context.Background(), []string{"__daemon", mode}, nil, func(string) {})
	t.Cleanup(func() {
		if _, err := Stop(context.Background(), "p", StopOptions{}); err != nil {
			t.Error(err)
		}
	})
	return id, err
}

// TestSpawnFails checks that a failed start returns its error and leaves nothing.
func TestSpawnFails(t *testing.T) {
	for mode, want := range map[string]struct {
		kind hook.Kind
		text string
	}{
		"early": {hook.Usage, "no such plugin"},
		"fails": {hook.Start, "ImportError: no numpy"},
		"dies":  {hook.Unavailable, "the daemon exited before it was ready: exit status 2"},
	} {
		t.Run(mode, func(t *testing.T) {
			dir := nothingLeft(t)
			_, err := spawned(t, mode)
			e := (*hook.Error)(nil)
			if !errors.As(err, &e) || e.Kind != want.kind || err.Error() != want.text {
				t.Errorf("got %v, want %s", err, want.text)
			}
			if mode != "dies" && !slices.Equal(hook.Words(e.Hints), []string{"look at it"}) {
				t.Errorf("hints %q", e.Hints)
			}
			if mode == "dies" && !strings.Contains(strings.Join(e.Drawing, "\n"), "what it said last") {
				t.Errorf("got %q", e.Drawing)
			}
			if _, err := os.Stat(dir); err == nil && len(files(t, dir)) != 0 {
				t.Errorf("left %v", files(t, dir))
			}
		})
	}
}

// TestSignal checks that a process that has the PID of an earlier daemon gets no signal.
func TestSignal(t *testing.T) {
	nothingLeft(t)
	start(t, newFake(), Options{})
	c := open(t)
	c.id.PID, c.id.Started = os.Getppid(), time.Time{}
	if err := c.signal((*os.Process).Kill); err != nil {
		t.Error(err)
	}
}

// TestPanicInLog checks that the trace of a panic is in the log, even after a rotation, and that
// the log stays.
func TestPanicInLog(t *testing.T) {
	dir := nothingLeft(t)
	id, err := spawned(t, "good")
	if err != nil {
		t.Fatal(err)
	}
	c := open(t)
	if _, err := c.Call(context.Background(), hook.Call{Hook: "turn"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(context.Background(), hook.Call{Hook: "panic"}); kindOf(t, err) != hook.Unavailable {
		t.Errorf("got %v", err)
	}
	gone(t, id.PID)
	for file, want := range map[string][]string{"p.log.1": {"this is in the log", "xxx"}, "p.log": {"turned", "panic: a bug"}} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		for _, want := range want {
			if err != nil || !bytes.Contains(text, []byte(want)) {
				t.Errorf("%s is %q, %v, want %s in it", file, text, err, want)
			}
		}
	}
}
