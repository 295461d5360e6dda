package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// TestFiles checks that the files are private, say who serves, and are removed with the daemon.
func TestFiles(t *testing.T) {
	dir := nothingLeft(t)
	d := start(t, newFake(), Options{})
	wantPrivate(t, dir)
	if got := files(t, dir); !slices.Equal(got, []string{"p.json", "p.sock"}) {
		t.Errorf("there are %v", got)
	}
	for _, name := range files(t, dir) {
		wantPrivate(t, filepath.Join(dir, name))
	}
	if id := open(t).Identity(); id.PID != os.Getpid() || id.API != API || id.Entry != "/x/p.py" || string(id.Socket) != filepath.Join(dir, "p.sock") {
		t.Errorf("it is %+v", id)
	}
	if all, err := List(ctx0); err != nil || len(all) != 1 || all[0].Name != "p" {
		t.Errorf("listed %v, %v", all, err)
	}
	d.stop()
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	wantPrivate(t, filepath.Join(dir, "p.log"))
	if _, err := Open(ctx0, "p"); !Is(err, NotRunning) {
		t.Errorf("got %v", err)
	}
}

// TestManyListen checks that only one of fifty concurrent attempts acquires a name.
func TestManyListen(t *testing.T) {
	needSockets(t)
	dir := nothingLeft(t)
	var work sync.WaitGroup
	won, lost := make(chan *Server, 50), make(chan error, 50)
	for range 50 {
		work.Go(func() {
			if s, err := Listen(Identity{Name: "p", Entry: "/x/p.py"}, Options{}); err != nil {
				lost <- err
			} else {
				won <- s
			}
		})
	}
	work.Wait()
	if len(won) != 1 {
		t.Fatalf("%d have the name, want 1", len(won))
	}
	for range len(lost) {
		if err := <-lost; !Is(err, AlreadyRuns) && !Is(err, Taken) || kindOf(t, err) != hook.Usage {
			t.Errorf("got %v, want that it is taken", err)
		}
	}
	(<-won).Fail(errors.New("enough"))
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

// TestStale checks that the files of a dead daemon do not prevent the next start, and that List
// removes them.
func TestStale(t *testing.T) {
	needSockets(t)
	dir := nothingLeft(t)
	if err := makeDir(dir); err != nil {
		t.Fatal(err)
	}
	litter := func() {
		// After kill -9 a socket is left that nobody listens on.
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "p.sock"), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		_ = l.Close()
		for name, text := range map[string]string{"p.json": `{"name":"p","pid":1}`, "p.log": "x\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	litter()
	if _, err := Open(ctx0, "p"); !Is(err, NotRunning) {
		t.Errorf("opened what is dead: %v", err)
	}
	if entries, err := List(ctx0); err != nil || len(entries) != 0 {
		t.Errorf("listed %v, %v", entries, err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	wantPrivate(t, filepath.Join(dir, "p.log"))
	_ = os.Remove(filepath.Join(dir, "p.log"))
	litter()
	d := start(t, newFake(), Options{})
	if _, err := open(t).Status(ctx0); err != nil {
		t.Error(err)
	}
	d.stop()
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

// TestStateRemoved checks that a name is not acquired while a daemon whose state file was removed
// still answers, and that an ending daemon does not remove the files of another.
func TestStateRemoved(t *testing.T) {
	dir := nothingLeft(t)
	d := start(t, newFake(), Options{})
	if err := os.Remove(filepath.Join(dir, "p.json")); err != nil {
		t.Fatal(err)
	}
	if c := open(t); c.Identity().PID != os.Getpid() { // the PID comes from the status
		t.Errorf("it is %+v", c.Identity())
	}
	if _, err := Listen(Identity{Name: "p", Entry: "/y.py"}, Options{}); !Is(err, Taken) {
		t.Errorf("got %v", err)
	}
	for _, name := range files(t, dir) {
		_ = os.Remove(filepath.Join(dir, name))
	}
	other := listen(t, Options{})
	d.stop()
	if got := files(t, dir); len(got) != 2 {
		t.Errorf("the other's files are %v", got)
	}
	other.Fail(errors.New("enough"))
}

// TestStarting checks that the status says that the plugin is starting, and that calls wait.
func TestStarting(t *testing.T) {
	nothingLeft(t)
	s := listen(t, Options{})
	c := open(t)
	if st, err := c.Status(ctx0); err != nil || st.State != hook.StateStarting {
		t.Errorf("status %+v, %v", st, err)
	}
	short, done := hook.WithLimit(ctx0, 20*time.Millisecond)
	defer done()
	if _, err := c.Call(short, hook.Call{Hook: "echo"}); kindOf(t, err) != hook.Timeout {
		t.Errorf("got %v, want that it took too long", err)
	}
	short, done = hook.WithLimit(ctx0, 20*time.Millisecond)
	defer done()
	if _, _, err := c.Ready(short); kindOf(t, err) != hook.Timeout || Is(err, Unresponsive) {
		t.Errorf("got %v, want that it is not ready", err)
	}
	var work sync.WaitGroup
	for range 50 {
		work.Go(func() {
			if r, err := c.Call(ctx0, hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte(`[1]`)}}); err != nil || string(r.Value) != "[1]" {
				t.Errorf("got %s, %v", r.Value, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(ctx0)
	over := make(chan error, 1)
	go func() { over <- s.Serve(ctx, newFake()) }()
	work.Wait()
	cancel()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// TestStartFails checks that the error of a start reaches every waiting request.
func TestStartFails(t *testing.T) {
	dir := nothingLeft(t)
	s := listen(t, Options{})
	c := open(t)
	done := make(chan error, 2)
	go func() { _, err := c.Call(ctx0, hook.Call{Hook: "echo"}); done <- err }()
	go func() { _, err := c.Call(ctx0, hook.Call{Hook: "block"}); done <- err }()
	awaitRequests(t, s, 2)
	s.Fail(&hook.Error{Kind: hook.Start, Hints: schema.Hints("install it"), Python: &hook.Raised{Type: "ImportError", Message: "no numpy"}})
	for range 2 {
		if err := <-done; kindOf(t, err) != hook.Start || err.Error() != "ImportError: no numpy" || hook.Word(hook.AsError(err).Hints[0]) != "install it" {
			t.Errorf("got %v", err)
		}
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

// TestStopStarting checks that a stop also ends a start.
func TestStopStarting(t *testing.T) {
	nothingLeft(t)
	s := listen(t, Options{})
	ctx := s.Stopping()
	stopped := make(chan error, 1)
	go func() { _, err := Stop(ctx0, "p", StopOptions{}); stopped <- err }()
	<-ctx.Done()
	if !Is(context.Cause(ctx), Stopping) {
		t.Errorf("ended by %v", context.Cause(ctx))
	}
	s.Fail(hook.Ended(ctx, "", "no start", false))
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestStop checks that a stop drains, rejects new calls, still answers status requests, and returns
// when the name is free.
func TestStop(t *testing.T) {
	dir := nothingLeft(t)
	f := newFake()
	f.drain = time.Minute
	release := make(chan struct{})
	f.hooks["slow"] = func(context.Context, hook.Call) (hook.Result, error) {
		<-release
		return value("done"), nil
	}
	d := start(t, f, Options{})
	c := open(t)
	result, stopped := make(chan error, 1), make(chan error, 1)
	go func() { _, err := c.Call(ctx0, hook.Call{Hook: "slow"}); result <- err }()
	f.awaitCall(t)
	go func() { _, err := Stop(ctx0, "p", StopOptions{}); stopped <- err }()
	runnertest.Until(t, "it is stopping", func() bool { return isEnding(d.Server) })
	_, err := c.Call(ctx0, hook.Call{Hook: "echo"})
	if e := hook.AsError(err); !Is(err, Stopping) || e.Kind != hook.Unavailable || e.Begun || err.Error() != "p is stopping" {
		t.Errorf("a call that came too late: %v", err)
	}
	if _, err := c.Status(ctx0); err != nil {
		t.Error(err)
	}
	close(release)
	if err := <-result; err != nil {
		t.Errorf("the running call: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	<-d.over
}

// TestStopNow checks that a stop kills the plugin if its client cancels, or if another stop allows
// less time.
func TestStopNow(t *testing.T) {
	var none time.Duration
	for name, hurry := range map[string]func(cancel func()){
		"its client goes away": func(cancel func()) { cancel() },
		"another stop allows no time": func(func()) {
			if _, err := Stop(ctx0, "p", StopOptions{Calls: &none}); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			nothingLeft(t)
			f := newFake()
			f.drain = time.Hour
			d := start(t, f, Options{})
			result, stopped := make(chan error, 1), make(chan error, 1)
			go func() { _, err := open(t).Call(ctx0, hook.Call{Hook: "block"}); result <- err }()
			f.awaitCall(t)
			ctx, cancel := context.WithCancel(ctx0)
			defer cancel()
			go func() { _, err := Stop(ctx, "p", StopOptions{}); stopped <- err }()
			runnertest.Until(t, "it is stopping", func() bool { return isEnding(d.Server) })
			hurry(cancel)
			if err := <-stopped; err != nil {
				t.Error(err)
			}
			if err := <-result; kindOf(t, err) != hook.Canceled || err.Error() != errStopped.Error() {
				t.Errorf("the running call: %v", err)
			}
			<-d.over
		})
	}
}

// TestIdle checks that a daemon without calls ends, even if clients request its status.
func TestIdle(t *testing.T) {
	nothingLeft(t)
	const idle = 100 * time.Millisecond
	s := listen(t, Options{IdleExit: idle})
	c := open(t)
	ctx, cancel := hook.WithLimit(ctx0, 3*idle)
	defer cancel()
	called, over := make(chan error, 1), make(chan error, 1)
	go func() { _, err := c.Call(ctx, hook.Call{Hook: "block"}); called <- err }()
	awaitRequests(t, s, 1) // the call must arrive before the idle time begins
	go func() { over <- s.Serve(ctx0, newFake()) }()
	if err := <-called; kindOf(t, err) != hook.Timeout {
		t.Errorf("a call that takes longer: %v", err)
	}
	runnertest.Until(t, "it ends", func() bool { _, err := c.Status(ctx0); return err != nil })
	if err := <-over; err != nil {
		t.Error(err)
	}
}
