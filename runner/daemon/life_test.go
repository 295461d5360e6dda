//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/wire"
)

func listen(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Listen(Identity{Name: "p", Entry: "/x/p.py", Version: "1.0"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// While the plugin starts, status says so and calls wait.
func TestStarting(t *testing.T) {
	nothingLeft(t)
	s := listen(t, Options{})
	c := open(t)
	if st, err := c.Status(context.Background()); err != nil || st.State != hook.StateStarting {
		t.Errorf("status %+v, %v", st, err)
	}
	_, err := c.CallWithin(context.Background(), hook.Call{Hook: "echo"}, 20*time.Millisecond)
	if kindOf(t, err) != hook.Timeout {
		t.Errorf("got %v, want that it took too long", err)
	}
	var work sync.WaitGroup
	for range 50 {
		work.Go(func() {
			c, err := Open(context.Background(), "p")
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			if r, err := c.Call(context.Background(), hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte(`[1]`)}}); err != nil || string(r.Value) != "[1]" {
				t.Errorf("got %s, %v", r.Value, err)
			}
		})
	}
	if _, err := c.Status(context.Background()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- s.Serve(ctx, newFake()) }()
	work.Wait()
	cancel()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// A start that fails is told to all who wait for it.
func TestStartFails(t *testing.T) {
	dir := nothingLeft(t)
	s := listen(t, Options{Hints: func(error) []string { return []string{"install it"} }})
	c := open(t)
	failure := &hook.Error{Kind: hook.Start, Python: &hook.Raised{Type: "ImportError", Message: "no numpy"}}
	done := make(chan error, 2)
	go func() { _, err := c.Call(context.Background(), hook.Call{Hook: "echo"}); done <- err }()
	go func() { _, err := c.Ready(context.Background()); done <- err }()
	waiting(t, s, 2)
	s.Tell(failure)
	for range 2 {
		err := <-done
		var told *hook.ToldError
		if !errors.As(err, &told) || kindOf(t, err) != hook.Start || err.Error() != "ImportError: no numpy" || told.Hints[0] != "install it" {
			t.Errorf("got %v", err)
		}
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

// waiting waits until so many calls have come to a server.
func waiting(t *testing.T, s *Server, n int) {
	t.Helper()
	runnertest.Until(t, "the calls come", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.running >= n
	})
}

// Who says stop ends a start, too.
func TestStopStarting(t *testing.T) {
	nothingLeft(t)
	s := listen(t, Options{})
	ctx, cancel := s.Starting(context.Background())
	defer cancel()
	stopped := make(chan error, 1)
	c := open(t)
	go func() { stopped <- c.Stop(context.Background()) }()
	<-ctx.Done()
	var stopping *StoppingError
	if !errors.As(context.Cause(ctx), &stopping) {
		t.Errorf("ended by %v", context.Cause(ctx))
	}
	s.Tell(hook.Ended(ctx, "", "no start", testBegan, false))
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// Stop gives calls some time, ends them, refuses new ones, answers status
// meanwhile, and returns when the name is free.
func TestStop(t *testing.T) {
	dir := nothingLeft(t)
	f := newFake()
	release := make(chan struct{})
	f.hooks["slow"] = func(context.Context, hook.Call) (hook.Result, error) {
		<-release
		return value("done"), nil
	}
	d := start(t, f, Options{Grace: time.Minute})
	c, other := open(t), open(t)
	result := make(chan error, 1)
	go func() { _, err := c.Call(context.Background(), hook.Call{Hook: "slow"}); result <- err }()
	waiting(t, d.Server, 1)
	stopped := make(chan error, 1)
	go func() { stopped <- other.Stop(context.Background()) }()
	runnertest.Until(t, "it is heard", d.Server.over)
	var stopping *StoppingError
	_, err := c.Call(context.Background(), hook.Call{Hook: "echo"})
	if !errors.As(err, &stopping) || kindOf(t, err) != hook.Unavailable || err.Error() != "p is being stopped" {
		t.Errorf("a call that came too late: %v", err)
	}
	if _, err := c.Status(context.Background()); err != nil {
		t.Error(err)
	}
	close(release)
	if err := <-result; err != nil {
		t.Errorf("the call that ran: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	<-d.over
}

// A stop that is interrupted has the plugin killed.
func TestStopNow(t *testing.T) {
	nothingLeft(t)
	d := start(t, newFake(), Options{Grace: time.Hour})
	c := open(t)
	result := make(chan error, 1)
	go func() { _, err := c.Call(context.Background(), hook.Call{Hook: "block"}); result <- err }()
	waiting(t, d.Server, 1)
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- open(t).Stop(ctx) }()
	runnertest.Until(t, "it is heard", d.Server.over)
	cancel()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if err := <-result; kindOf(t, err) != hook.Canceled || err.Error() != "the plugin was stopped during the call" {
		t.Errorf("the call that ran: %v", err)
	}
	<-d.over
}

// A daemon that nobody calls ends, and not before, whoever looks at it.
func TestIdle(t *testing.T) {
	nothingLeft(t)
	const idle = 100 * time.Millisecond
	d := start(t, newFake(), Options{IdleExit: idle})
	c := open(t)
	if _, err := c.CallWithin(context.Background(), hook.Call{Hook: "block"}, 3*idle); kindOf(t, err) != hook.Timeout {
		t.Errorf("a call that takes longer: %v", err)
	}
	for last := time.Now(); ; { // as status --watch does
		if _, err := c.Status(context.Background()); err != nil {
			break
		}
		if time.Since(last) > 10*time.Second {
			t.Fatal("it stays")
		}
	}
	<-d.over
}

// The end of a daemon is told to the calls that it has.
func TestDaemonDies(t *testing.T) {
	dir := nothingLeft(t)
	if err := wire.MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "p.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if err := (place{dir: dir, name: "p"}).writeState(Identity{Name: "p", PID: 1, Build: wire.Build()}); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked, part := "", make([]byte, 4<<10)
			for n := 1; n > 0 && !strings.Contains(asked, "hook"); {
				n, _ = c.Read(part)
				asked += string(part[:n])
			}
			switch { // what follows is not read
			case strings.Contains(asked, "half"):
				_, _ = c.Write([]byte{1, 0})
			case strings.Contains(asked, "nonsense"):
				_, _ = c.Write([]byte("nonsense!"))
			}
			_ = c.Close()
		}
	}()
	long := hook.Args{JSON: []byte(`["` + strings.Repeat("x", 100_000) + `"]`)}
	for name, want := range map[string]string{
		"echo": "the daemon of p ended during the call",
		"half": "the daemon of p ended during the call",
		"nonsense": "the connection to the daemon of p was given up during the call: " +
			"unknown frame type in the frame header 6e 6f 6e 73 65 6e 73 65 21",
	} {
		_, err = open(t).Call(context.Background(), hook.Call{Hook: name, Args: long})
		var lost *LostError
		e := (*hook.Error)(nil)
		if !errors.As(err, &lost) || !errors.As(err, &e) || e.Kind != hook.Unavailable || !e.Begun || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// What the warm way left goes on where it was.
func TestAdopt(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	f.hooks["stream"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		for i := range 100 {
			if err := c.Emit(hook.Item{Value: fmt.Append(nil, i)}); err != nil {
				return hook.Result{}, &hook.Error{Kind: hook.Canceled, Begun: true, Err: err}
			}
		}
		return hook.Result{Streamed: true}, nil
	}
	start(t, f, Options{Note: func() string { return "p.py changed" }})
	ask, _ := wire.AppendAsk(nil, 7, "stream", nil)
	for _, ahead := range []int{0, 1, 5, 30, 200} {
		conn := stuck(t, hail(), ask)
		read := make([]byte, ahead)
		if _, err := io.ReadFull(conn, read); err != nil {
			t.Fatal(err)
		}
		file, err := conn.(*net.UnixConn).File()
		if err != nil {
			t.Fatal(err)
		}
		fd, err := syscall.Dup(int(file.Fd())) // Adopt closes it, and file the other
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Close(), file.Close()
		c, err := Adopt(&wire.Left{Conn: fd, Read: read, Call: 7, Name: "p", Hook: "stream", Words: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		var notes, got []string
		c.Note = func(text string) { notes = append(notes, text) }
		r, err := c.Resume(context.Background(), func(i hook.Item) error { got = append(got, string(i.Value)); return nil })
		if err != nil || !r.Streamed || len(got) != 100 || got[99] != "99" || strings.Join(notes, ",") != "p.py changed" {
			t.Errorf("%d bytes ahead: got %v, notes %v, %+v, %v", ahead, got, notes, r, err)
		}
		if c.Identity().PID != os.Getpid() {
			t.Errorf("identity %+v", c.Identity())
		}
		if _, err := c.Call(context.Background(), hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte("[]")}}); err != nil {
			t.Error(err)
		}
		c.Close()
	}
}

// What was cancelled as often as not never gives a wrong answer.
func TestCancelStorm(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	f.hooks["maybe"] = func(ctx context.Context, c hook.Call) (hook.Result, error) {
		if len(c.Args.JSON)%2 == 0 {
			<-ctx.Done()
			return hook.Result{}, hook.Ended(ctx, c.Hook, "no result", testBegan, true)
		}
		return hook.Result{Item: hook.Item{Value: c.Args.JSON}}, nil
	}
	start(t, f, Options{})
	var work sync.WaitGroup
	c := open(t)
	for w := range 10 {
		work.Go(func() {
			for i := range 100 {
				args := fmt.Sprintf("[%d]", 1000*w+i)
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%7)*time.Millisecond)
				r, err := c.Call(ctx, hook.Call{Hook: "maybe", Args: hook.Args{JSON: []byte(args)}})
				cancel()
				if err == nil && string(r.Value) != args {
					t.Errorf("%s was answered by %s", args, r.Value)
				}
				if err != nil && kindOf(t, err) != hook.Timeout {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
}

// A limit ends a stream that nobody reads, and a stop one whose reader is stuck.
func TestStreamEnds(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	began, why := make(chan struct{}, 2), make(chan error, 2)
	f.hooks["stream"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		began <- struct{}{}
		for {
			if err := c.Emit(hook.Item{Value: make([]byte, 1000)}); err != nil {
				why <- err
				return hook.Result{}, &hook.Error{Kind: hook.Canceled, Begun: true, Err: err}
			}
		}
	}
	d := start(t, f, Options{Grace: -1})
	stuck(t, hail(), wire.Append(nil, wire.Call, 1, []byte(`{"hook":"stream","items":true,"timeout_ms":50}`)))
	<-began
	if err := <-why; !(errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errGone)) {
		t.Errorf("the call was ended by %v", err)
	}
	// Its window is opened again and again, but nothing is read.
	greedy := stuck(t, hail(), wire.Append(nil, wire.Call, 1, []byte(`{"hook":"stream","items":true}`)))
	go func() { // ends with the connection
		for {
			if _, err := greedy.Write(wire.Append(nil, wire.Credit, 1, wire.PutNumber(1<<20))); err != nil {
				return
			}
		}
	}()
	<-began
	d.stop()
	if err := <-why; err == nil {
		t.Error("the call goes on")
	}
}
