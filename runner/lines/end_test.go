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

// TestStop checks that calls in progress are answered after a stop, and that no further call
// begins.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(sleeper), func(o *Options) { o.Jobs = 2 })
		r.feed("3", "1", "1", "1", "1")
		time.Sleep(1500 * time.Millisecond) // the third call has begun
		close(r.stop)
		began := time.Now()
		<-r.done
		if took := time.Since(began); took != 1500*time.Millisecond || r.err != nil {
			t.Errorf("it ended after %v with %v", took, r.err)
		}
		r.wants(t, result(1, 3), result(2, 1), result(3, 1))
	})
}

// TestStopWhileReading checks that Run returns after a stop even if a read of the input waits.
func TestStopWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(sleeper), nil)
		r.feed("0")
		synctest.Wait()
		close(r.stop)
		<-r.done
		r.wants(t, result(1, 0))
		if _, err := io.WriteString(r.in, "1\n"); err != nil {
			t.Error(err) // the abandoned read gets the line, and no call is made
		}
		r.wants(t, result(1, 0))
	})
}

// TestStopWhenFull stops an engine that waits for its first call and holds as many answers as it
// may.
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

// TestCancel checks that canceled calls are answered, too.
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

// TestGaveUp checks that the lines whose calls were made are answered, and that refused lines are
// not, however many lines were read.
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

// TestGaveUpLate checks that closing GaveUp has no effect once the input has ended and its calls
// are made, and that it stops an engine that waits for lines.
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

// failing is a writer that fails after n writes.
type failing struct{ n int }

func (f *failing) Write(b []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errDisk
	}
	return len(b), nil
}

// TestOutputFails checks that a failed output ends the run and cancels the calls.
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

// TestStreamWithoutOutput checks that a stream ends when the output has failed.
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

// TestNotRead checks that Run fails after a stop if the output accepts nothing, but waits for a
// slow reader.
func TestNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newGate()
		r := start(t, callerFunc(sleeper), func(o *Options) { o.Out = out })
		r.feed("0", "0", "0")
		time.Sleep(time.Hour) // before the stop there is no limit
		close(r.stop)
		began := time.Now()
		<-r.done
		if took := time.Since(began); took > 2*writeTimeout || !errors.Is(r.err, ErrNotRead) {
			t.Errorf("it ended after %v with %v", took, r.err)
		}
		close(out.open) // ends the abandoned write
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

// slow is an output whose writes take a delay.
type slow struct {
	delay  time.Duration
	writes int
}

func (s *slow) Write(b []byte) (int, error) {
	time.Sleep(s.delay)
	s.writes++
	return len(b), nil
}

// TestWaitsForReader checks that Run waits for the reader without a limit after the end of the
// input.
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
