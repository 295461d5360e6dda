//go:build unix

package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/pyplug/pyplug/runner/runnertest"
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
		for range 200 { // it takes a moment between the end of its work and its exit
			runtime.GC()
		}
	}
	if err != nil {
		return 1
	}
	return 0
}

// around describes what a daemon has inherited.
type around struct {
	Session, PID int
	Files        map[string]string
	Environ      []string
}

func surroundings() around {
	session, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
	a := around{Session: int(session), PID: os.Getpid(), Files: map[string]string{}, Environ: os.Environ()}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			a.Files[e.Name()] = to
		}
	}
	return a
}

// spawned starts a daemon in the background. It ends with the test.
func spawned(t *testing.T, mode string) (Identity, error) {
	t.Helper()
	id, err := Spawn(context.Background(), []string{"__daemon", mode}, nil, func(string) {})
	t.Cleanup(func() {
		if _, err := Stop(context.Background(), "p", StopOptions{}); err != nil {
			t.Error(err)
		}
	})
	return id, err
}

// TestSpawn checks that a daemon inherits the environment, but no descriptors.
func TestSpawn(t *testing.T) {
	dir := nothingLeft(t)
	inherited, err := syscall.Open(filepath.Dir(dir), syscall.O_RDONLY, 0) // like a shell, not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(inherited) }()
	id, err := Spawn(context.Background(), []string{"__daemon", "good"}, append(os.Environ(), "MARK=1"), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t)
	var a around
	runnertest.Until(t, "the pipe of the start is closed", func() bool {
		a = askAround(t, c)
		return !strings.HasPrefix(a.Files["3"], "pipe:")
	})
	if a.PID != id.PID || a.Session != id.PID || !slices.Contains(a.Environ, "MARK=1") {
		t.Errorf("got %+v of %d", a, id.PID)
	}
	if len(a.Files) > 0 && (a.Files["0"] != "/dev/null" || a.Files["1"] != string(id.Log) || a.Files["2"] != string(id.Log)) {
		t.Errorf("its streams are %v", a.Files)
	}
	for fd, to := range a.Files {
		if to == filepath.Dir(dir) || strings.HasPrefix(to, "pipe:") {
			t.Errorf("descriptor %s is %s", fd, to)
		}
	}
	if _, err := Stop(context.Background(), "p", StopOptions{}); err != nil {
		t.Error(err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	gone(t, id.PID)
}

// askAround asks a daemon what it has inherited.
func askAround(t *testing.T, c *Client) (a around) {
	t.Helper()
	r, err := c.Call(context.Background(), hook.Call{Hook: "about"})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.Value, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// gone waits until no process has that PID.
func gone(t *testing.T, pid int) {
	t.Helper()
	runnertest.Until(t, "the process is gone", func() bool { return syscall.Kill(pid, 0) != nil })
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

// TestSpawnKilled checks that the error of a daemon that was killed before it was ready has its
// exit and its log.
func TestSpawnKilled(t *testing.T) {
	dir := nothingLeft(t)
	_, err := Spawn(context.Background(), []string{"__daemon", "hangs"}, nil, func(string) {
		id, err := place{dir: dir, name: "p"}.readState()
		if err == nil {
			err = syscall.Kill(id.PID, syscall.SIGKILL)
		}
		if err != nil {
			t.Error(err)
		}
	})
	e := hook.AsError(err)
	if !strings.HasSuffix(strings.Join(hook.Words(e.Hints), ""), filepath.Join(dir, "p.log")) || !strings.HasSuffix(e.Error(), "signal: killed") {
		t.Errorf("got %+v", e)
	}
	if ran, err := Stop(context.Background(), "p", StopOptions{}); ran || err != nil { // which removes what is left
		t.Errorf("stop: %v, %v", ran, err)
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

// TestStopExits checks that Stop returns when the daemon has exited, not only when its name is
// free.
func TestStopExits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only /proc shows a process that has exited and nobody has waited for")
	}
	nothingLeft(t)
	id, err := spawned(t, "lingers")
	if err != nil {
		t.Fatal(err)
	}
	if ran, err := Stop(context.Background(), "p", StopOptions{}); !ran || err != nil {
		t.Errorf("Stop = %v, %v", ran, err)
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id.PID)); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("the daemon still runs: %s", stat)
	}
}
