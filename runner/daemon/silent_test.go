//go:build unix

package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/wire"
)

// impatient has clients ask soon whether a silent daemon is there, and not wait for
// long.
func impatient(t *testing.T, wait time.Duration) {
	every, limit, hear := pingEvery, pingLimit, hearLimit
	pingEvery, pingLimit, hearLimit = 20*time.Millisecond, wait, wait
	t.Cleanup(func() { pingEvery, pingLimit, hearLimit = every, limit, hear })
}

// hung is a daemon that hangs: after it has answered the first message, if there is an
// answer.
func hung(t *testing.T, answer []byte) {
	dir := nothingLeft(t)
	if err := wire.MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "p.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := (place{dir: dir, name: "p"}).writeState(Identity{Name: "p", PID: 1, Build: wire.Build()}); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // ends with the listener
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
			if answer == nil {
				continue
			}
			r := wire.NewSideReader(c, 0, wire.ToDaemon)
			_, _ = r.Next() // the greeting
			_, _ = r.Next()
			_, _ = c.Write(answer)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
}

// Nobody waits for ever for a daemon that hangs.
func TestHung(t *testing.T) {
	impatient(t, 100*time.Millisecond)
	hung(t, nil)
	ctx := context.Background()
	big := hook.Args{JSON: []byte(`["` + strings.Repeat("x", 4<<20) + `"]`)} // which does not fit into the socket
	for name, do := range map[string]func(*Client) error{
		"call":     func(c *Client) error { _, err := c.Call(ctx, hook.Call{Hook: "echo"}); return err },
		"big call": func(c *Client) error { _, err := c.Call(ctx, hook.Call{Hook: "echo", Args: big}); return err },
		"ready":    func(c *Client) error { _, err := c.Ready(ctx); return err },
		"hooks":    func(c *Client) error { _, err := c.Describe(ctx); return err },
	} {
		err := do(open(t))
		var mute *UnansweredError
		if !errors.As(err, &mute) || kindOf(t, err) != hook.Unavailable || mute.By.PID != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A call of a daemon that hangs ends soon after its limit, and says that it does; its
// status ends with its own.
func TestHungLimit(t *testing.T) {
	impatient(t, 100*time.Millisecond)
	pingEvery = time.Minute // nobody else asks
	hung(t, nil)
	c := open(t)
	began := time.Now()
	_, err := c.CallWithin(context.Background(), hook.Call{Hook: "echo"}, 50*time.Millisecond)
	var (
		limit *hook.LimitError
		mute  *UnansweredError
	)
	if !errors.As(err, &limit) || !errors.As(err, &mute) || kindOf(t, err) != hook.Timeout {
		t.Errorf("call: %v", err)
	}
	if took := time.Since(began); took >= answerLimit {
		t.Errorf("the call took %s", took)
	}
	hearLimit = time.Minute
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	within(t, "status", func() {
		if _, err := c.Status(ctx); !errors.As(err, &limit) || kindOf(t, err) != hook.Timeout {
			t.Errorf("status: %v", err)
		}
	})
}

// Who asks one that hangs for what may take long is told as soon as by its status.
func TestHungAtOnce(t *testing.T) {
	hung(t, nil)
	ctx, began := context.Background(), time.Now()
	var work sync.WaitGroup
	for name, do := range map[string]func(*Client) error{
		"ready":   func(c *Client) error { _, err := c.Ready(ctx); return err },
		"hooks":   func(c *Client) error { _, err := c.Describe(ctx); return err },
		"restart": func(c *Client) error { return c.Restart(ctx, "a test") },
	} {
		c := open(t)
		work.Go(func() {
			var mute *UnansweredError
			if err := do(c); !errors.As(err, &mute) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	work.Wait()
	if took := time.Since(began); took > pingEvery {
		t.Errorf("it took %s", took)
	}
}

// A message that takes long is not taken for a daemon that hangs.
func TestLongMessage(t *testing.T) {
	impatient(t, time.Second)
	nothingLeft(t)
	s := listen(t, Options{}) // and starts
	c := open(t)
	ended := make(chan error, 1)
	go func() { _, err := c.Ready(context.Background()); ended <- err }()
	select {
	case err := <-ended:
		t.Errorf("it ended with %v", err)
	case <-time.After(2 * time.Second):
	}
	s.Tell(errors.New("enough"))
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("got %v", err)
	}
}

// Of one that hangs and whose state is not there, nobody knows who it is.
func TestHungUnknown(t *testing.T) {
	hung(t, nil)
	remove(t, os.Getenv("PYPLUG_RUN_DIR"), "p.json")
	for name, do := range map[string]func(context.Context, string) (*Client, error){"open": Open, "look": Look} {
		var mute *UnansweredError
		if _, err := do(context.Background(), "p"); !errors.As(err, &mute) || kindOf(t, err) != hook.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A daemon that hangs after it has heard that it is to stop is not waited for, either.
func TestStopHung(t *testing.T) {
	impatient(t, 100*time.Millisecond)
	hung(t, wire.Append(nil, wire.Answer, 1, []byte("{}")))
	if err := open(t).Stop(context.Background()); err == nil || !strings.Contains(err.Error(), "cannot be killed") {
		t.Errorf("got %v", err)
	}
}

// A call that takes long is not taken for a daemon that hangs.
func TestLongCall(t *testing.T) {
	const wait = time.Second // in which a busy machine answers, too
	impatient(t, wait)
	nothingLeft(t)
	start(t, newFake(), Options{})
	_, err := open(t).CallWithin(context.Background(), hook.Call{Hook: "block"}, 2*wait)
	if kindOf(t, err) != hook.Timeout {
		t.Errorf("got %v, want that it took too long", err)
	}
}

// Who starts what is being stopped waits for its end, and has a daemon then.
func TestSpawnStopping(t *testing.T) {
	nothingLeft(t)
	f := newFake()
	release := make(chan struct{})
	f.hooks["slow"] = func(context.Context, hook.Call) (hook.Result, error) {
		<-release
		return value("done"), nil
	}
	d := start(t, f, Options{Grace: time.Minute})
	c := open(t)
	result := make(chan error, 1)
	go func() { _, err := c.Call(context.Background(), hook.Call{Hook: "slow"}); result <- err }()
	waiting(t, d.Server, 1)
	d.end()
	runnertest.Until(t, "it ends", d.Server.over)
	time.AfterFunc(time.Second, func() { close(release) }) // while it is waited for
	if id, err := spawned(t, "good"); err != nil || id.PID == d.Identity().PID {
		t.Errorf("got %d, %v", id.PID, err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
	<-d.over
}

// Who has the name and runs something else is not waited for, nor its error told.
func TestSpawnOther(t *testing.T) {
	nothingLeft(t)
	s := listen(t, Options{}) // and starts
	id, err := Spawn(context.Background(), SpawnOptions{Name: "p", Entry: "/y/q.py", Args: []string{"__daemon", "good"}})
	if err != nil || id.Entry != "/x/p.py" {
		t.Errorf("got %+v, %v", id, err)
	}
	s.Tell(errors.New("enough"))
}

// A call that waits for others to be written does not shorten their time.
func TestWriteWithin(t *testing.T) {
	ours, theirs := net.Pipe()
	defer func() { _ = ours.Close(); _ = theirs.Close() }()
	set := &deadlines{Conn: ours}
	c := newConnection(&Server{}, set)
	c.writing <- struct{}{} // another call's
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errCanceled)
	if err := c.writeWithin(ctx, []byte("x")); !errors.Is(err, errCanceled) || set.n != 0 {
		t.Errorf("got %v, %d deadlines", err, set.n)
	}
}

type deadlines struct {
	net.Conn
	n int
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.n++
	return d.Conn.SetWriteDeadline(at)
}

// Empty items have a window as well.
func TestInputWindow(t *testing.T) {
	in := newInflow(func(int) {})
	n := 0
	for ; n <= wire.Window && in.take(wire.Frame{Type: wire.Item, Call: 1}) == nil; n++ {
	}
	if want := wire.Window / wire.ItemSize(0); n != want {
		t.Errorf("%d empty items were taken, want %d", n, want)
	}
}

// The files of a plugin are not looked at for each of many calls.
func TestNotePause(t *testing.T) {
	asked := 0
	s := &Server{opts: Options{Note: func() string { asked++; return "changed" }}}
	s.noted = time.Now().Add(time.Hour) // so that no pause is over
	s.found = "before"
	if got := s.note(false); got != "before" || asked != 0 {
		t.Errorf("got %q, asked %d times", got, asked)
	}
	if got := s.note(true); got != "changed" || asked != 1 {
		t.Errorf("got %q, asked %d times", got, asked)
	}
}
