package lines

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestStop holds that what runs is answered, and nothing more is read.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(sleeper), func(o *Options) { o.Jobs = 2 })
		r.feed("3", "1", "1", "1", "1")
		time.Sleep(1500 * time.Millisecond) // the third has begun
		close(r.stop)
		began := time.Now()
		<-r.done
		if took := time.Since(began); took != 1500*time.Millisecond || r.err != nil {
			t.Errorf("it ended after %v with %v", took, r.err)
		}
		r.wants(t, result(1, 3), result(2, 1), result(3, 1))
	})
}

// TestStopWhileReading holds that a read which waits is left.
func TestStopWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(sleeper), nil)
		r.feed("0")
		synctest.Wait()
		close(r.stop)
		<-r.done
		r.wants(t, result(1, 0))
		if _, err := io.WriteString(r.in, "1\n"); err != nil {
			t.Error(err) // the read that was left takes it, and no call is made
		}
		r.wants(t, result(1, 0))
	})
}

// TestStopWhenFull stops an engine that waits for its first call with all that it
// may hold.
func TestStopWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, begun := make(chan struct{}), new(atomic.Int64)
		var out counter
		r := start(t, slowFirst(open, begun, []byte("1")), func(o *Options) { o.Out = &out })
		r.feed("1\n" + strings.Repeat("0\n", 3*window))
		synctest.Wait()
		close(r.stop)
		synctest.Wait()
		close(open)
		<-r.done
		if out.lines.Load() != begun.Load() || begun.Load() != r.Counts().Answered {
			t.Errorf("%d calls, %d lines, %+v", begun.Load(), out.lines.Load(), r.Counts())
		}
	})
}

// TestCancel holds that calls which are cancelled are answered, too.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(sleeper), func(o *Options) { o.Jobs = 2 })
		r.feed("9", "9", "9")
		synctest.Wait()
		close(r.stop)
		synctest.Wait()
		began := time.Now()
		r.kill(errors.New("interrupted"))
		<-r.done
		if took := time.Since(began); took != 0 || r.err != nil {
			t.Errorf("it ended after %v with %v", took, r.err)
		}
		r.wants(t, `{"id":1,"error":"canceled: interrupted"}`, `{"id":2,"error":"canceled: interrupted"}`)
	})
}

// TestGaveUp holds that the lines which were called are answered, and those that
// were refused are not, however many were read.
func TestGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		var calls atomic.Int64
		caller := callerFunc(func(ctx context.Context, c hook.Call) (hook.Result, error) {
			switch calls.Add(1) {
			case 1:
				return hook.Result{}, &hook.Error{Kind: hook.Unavailable, Err: errors.New("for now")}
			case 2:
				close(over)
				return hook.Result{}, &hook.Error{Kind: hook.Crash, Begun: true, Err: errors.New("died")}
			}
			return hook.Result{}, &hook.Error{Kind: hook.Start, Err: errors.New("no more")}
		})
		r := start(t, caller, func(o *Options) { o.Jobs, o.GaveUp = 1, over })
		r.feed("1", "1", "1", "1", "1")
		<-r.done
		if c := r.Counts(); !errors.Is(r.err, ErrGaveUp) || c.Last != 2 || c.Answered != 2 || c.Failed != 2 || c.Running != 0 {
			t.Errorf("got %v, %+v", r.err, c)
		}
		r.wants(t, `{"id":1,"error":"unavailable: for now"}`, `{"id":2,"error":"crash: died"}`)
	})
}

// TestGaveUpLate holds that it does not matter once the input has ended and all is
// answered; and that it ends an engine that waits for lines.
func TestGaveUpLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		r := start(t, callerFunc(sleeper), func(o *Options) { o.GaveUp = over })
		r.feed("2")
		synctest.Wait()
		_ = r.in.Close()
		synctest.Wait()
		close(over)
		<-r.done
		if r.err != nil {
			t.Error(r.err)
		}
		r.wants(t, result(1, 2))
	})
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		r := start(t, callerFunc(sleeper), func(o *Options) { o.GaveUp = over })
		r.feed("0")
		synctest.Wait()
		close(over)
		<-r.done
		if !errors.Is(r.err, ErrGaveUp) {
			t.Error(r.err)
		}
		r.wants(t, result(1, 0))
	})
}

var errDisk = errors.New("no room")

// failing takes n writes, and no more.
type failing struct{ n int }

func (f *failing) Write(b []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errDisk
	}
	return len(b), nil
}

// TestOutputFails holds that nothing goes on for an output that is gone.
func TestOutputFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(sleeper), func(o *Options) { o.Out, o.Unordered = &failing{n: 1}, true })
		r.feed("0", "9", "1", "9")
		began := time.Now()
		<-r.done
		if took := time.Since(began); took != time.Second || !errors.Is(r.err, errDisk) {
			t.Errorf("it ended after %v with %v", took, r.err)
		}
	})
}

// TestStreamWithoutOutput holds that a stream ends when nobody takes it.
func TestStreamWithoutOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := new(atomic.Int64)
		endless := callerFunc(func(ctx context.Context, c hook.Call) (hook.Result, error) {
			for {
				if err := c.Emit(hook.Item{Value: []byte("1")}); err != nil {
					return hook.Result{}, &hook.Error{Kind: hook.Canceled, Err: err}
				}
				given.Add(1)
				time.Sleep(time.Second)
			}
		})
		r := start(t, endless, func(o *Options) { o.Out = &failing{n: 3} })
		r.feed("0")
		<-r.done
		if !errors.Is(r.err, errDisk) || given.Load() != 4 {
			t.Errorf("%d items, and %v", given.Load(), r.err)
		}
	})
}

// TestNotRead holds that Stop does not wait for a reader that takes nothing, but waits
// for a slow one.
func TestNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newGate()
		r := start(t, callerFunc(sleeper), func(o *Options) { o.Out = out })
		r.feed("0", "0", "0")
		time.Sleep(time.Hour) // nobody has stopped it
		close(r.stop)
		began := time.Now()
		<-r.done
		if took := time.Since(began); took > 2*writeTimeout || !errors.Is(r.err, ErrNotRead) {
			t.Errorf("it ended after %v with %v", took, r.err)
		}
		close(out.open) // for the write that was left
	})
	synctest.Test(t, func(t *testing.T) {
		out := &slow{delay: 2 * writeTimeout / 3}
		r := start(t, callerFunc(func(context.Context, hook.Call) (hook.Result, error) {
			return valued([]byte(`"` + strings.Repeat("x", chunkSize) + `"`)), nil
		}), func(o *Options) { o.Out = out })
		r.feed(strings.Repeat("0\n", 10))
		synctest.Wait()
		close(r.stop)
		<-r.done
		if r.err != nil || out.writes < 10 {
			t.Errorf("%d writes, and %v", out.writes, r.err)
		}
	})
}

// slow is an output that takes its time for each write.
type slow struct {
	delay  time.Duration
	writes int
}

func (s *slow) Write(b []byte) (int, error) {
	time.Sleep(s.delay)
	s.writes++
	return len(b), nil
}

// TestWaitsForReader holds that at the end of the input a reader has all the time
// that it wants.
func TestWaitsForReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newGate()
		r := start(t, callerFunc(sleeper), func(o *Options) { o.Out = out })
		r.feed("0")
		synctest.Wait()
		_ = r.in.Close()
		time.Sleep(time.Hour)
		close(out.open)
		<-r.done
		if r.err != nil {
			t.Error(r.err)
		}
		r.wants(t, result(1, 0))
	})
}
