package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// sleeper sleeps for the number of seconds in its only argument, and returns that number.
func sleeper(ctx context.Context, c hook.Call) (hook.Result, error) {
	var seconds []int
	if err := json.Unmarshal(c.Args.JSON, &seconds); err != nil {
		return hook.Result{}, &hook.Error{Kind: hook.Request, Err: err}
	}
	select {
	case <-time.After(time.Duration(seconds[0]) * time.Second):
		return valued([]byte(fmt.Sprint(seconds[0]))), nil
	case <-ctx.Done():
		return hook.Result{}, hook.Ended(ctx, c.Hook, "", true)
	}
}

// running is an engine in progress.
type running struct {
	*Engine
	out  *gate
	in   *io.PipeWriter
	stop chan struct{}
	kill context.CancelCauseFunc
	done chan struct{} // closed when Run has returned
	err  error         // the error of Run, set before done is closed
}

// start runs an engine in a bubble. It closes the engine's input at the end of the test.
func start(t *testing.T, caller hook.Caller, change func(*Options)) *running {
	t.Helper()
	ctx, kill := context.WithCancelCause(t.Context())
	r, w := io.Pipe()
	run := &running{out: opened(), in: w, stop: make(chan struct{}), kill: kill, done: make(chan struct{})}
	o := options(r, run.out)
	o.Hook, o.Jobs, o.Stop = "h", 4, run.stop
	if change != nil {
		change(&o)
	}
	if out, ok := o.Out.(*gate); ok {
		run.out = out
	}
	run.Engine = New(caller, o)
	go func() { // ends with the engine, which the test waits for
		defer close(run.done)
		run.err = run.Run(ctx)
	}()
	t.Cleanup(func() { _ = w.Close() })
	return run
}

// feed writes lines to the input in the background.
func (r *running) feed(lines ...string) {
	go func() { _, _ = io.WriteString(r.in, strings.Join(lines, "\n")+"\n") }()
}

// wants waits until all goroutines block, and compares the output.
func (r *running) wants(t *testing.T, lines ...string) {
	t.Helper()
	synctest.Wait()
	want := strings.Join(lines, "\n")
	if want != "" {
		want += "\n"
	}
	if got := r.out.String(); got != want {
		t.Errorf("written is\n%swant\n%s", got, want)
	}
}

func result(id, value int) string { return fmt.Sprintf(`{"id":%d,"result":%d}`, id, value) }

func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(sleeper), nil)
		r.feed("3", "1", "2", "x", "0")
		time.Sleep(2500 * time.Millisecond)
		r.wants(t)
		if got := r.Counts(); got != (Counts{Answered: 4, Failed: 1, Running: 1, Last: 5, Read: 8}) {
			t.Errorf("counts are %+v", got)
		}
		time.Sleep(time.Second)
		bad := `{"id":4,"error":"request: the line is not JSON: byte 1: invalid character 'x' looking for beginning of value"}`
		all := []string{result(1, 3), result(2, 1), result(3, 2), bad, result(5, 0)}
		r.wants(t, all...) // before the input has ended
		_ = r.in.Close()
		<-r.done
		r.wants(t, all...)
	})
}

func TestUnordered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(sleeper), func(o *Options) { o.Unordered = true })
		r.feed("3", "1", "2")
		time.Sleep(1500 * time.Millisecond)
		r.wants(t, result(2, 1))
		_ = r.in.Close()
		<-r.done
		r.wants(t, result(2, 1), result(3, 2), result(1, 3))
	})
}

// TestJobs checks that an engine makes as many concurrent calls as Jobs says.
func TestJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(sleeper), func(o *Options) { o.Jobs = 2 })
		r.feed("5", "5", "5")
		synctest.Wait()
		if got := r.Counts().Running; got != 2 {
			t.Errorf("%d calls go on, want 2", got)
		}
		began := time.Now()
		_ = r.in.Close()
		<-r.done
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("it took %v, want 10s", took)
		}
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(sleeper), func(o *Options) { o.Timeout = 2 * time.Second })
		r.feed("1", "9")
		time.Sleep(3 * time.Second)
		r.wants(t, result(1, 1), `{"id":2,"error":"timeout: timed out after 2s"}`)
		_ = r.in.Close()
		<-r.done
	})
}

// slowFirst answers calls at once. Only a call with the argument 1 waits for open.
func slowFirst(open <-chan struct{}, begun *atomic.Int64, answer []byte) hook.Caller {
	return callerFunc(func(_ context.Context, c hook.Call) (hook.Result, error) {
		begun.Add(1)
		if string(c.Args.JSON) == "[1]" {
			<-open
		}
		return valued(answer), nil
	})
}

// TestWindow checks that the answers held behind a slow first call are limited in number and size.
func TestWindow(t *testing.T) {
	for name, c := range map[string]struct {
		answer   []byte
		lines    int
		maxCalls int64
	}{
		"count": {[]byte("1"), 3 * window, window},
		"bytes": {append(append([]byte{'"'}, bytes.Repeat([]byte("x"), 1<<20)...), '"'), 40, holdSize>>20 + 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				open, begun := make(chan struct{}), new(atomic.Int64)
				var out counter
				r := start(t, slowFirst(open, begun, c.answer), func(o *Options) { o.Out = &out })
				r.feed("1" + strings.Repeat("\n0", c.lines-1))
				synctest.Wait()
				if got := begun.Load(); got > c.maxCalls || got < c.maxCalls/2 {
					t.Errorf("%d calls were begun behind one that waits, want about %d", got, c.maxCalls)
				}
				if out.lines.Load() != 0 {
					t.Error("something was written before the first answer")
				}
				close(open)
				synctest.Wait()
				_ = r.in.Close()
				<-r.done
				if got := out.lines.Load(); got != int64(c.lines) {
					t.Errorf("%d lines were answered, want %d", got, c.lines)
				}
			})
		})
	}
}

// counter counts lines.
type counter struct{ lines atomic.Int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.lines.Add(int64(bytes.Count(b, []byte("\n"))))
	return len(b), nil
}

// TestSlowReader checks that no more calls begin while the output accepts nothing.
func TestSlowReader(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		t.Run(fmt.Sprint("unordered ", unordered), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out, begun := newGate(), new(atomic.Int64)
				value := append(append([]byte{'"'}, bytes.Repeat([]byte("x"), 100<<10)...), '"')
				caller := callerFunc(func(context.Context, hook.Call) (hook.Result, error) {
					begun.Add(1)
					return valued(value), nil
				})
				r := start(t, caller, func(o *Options) { o.Out, o.Unordered = out, unordered })
				r.feed(strings.Repeat("0\n", 259) + "0")
				synctest.Wait()
				held := begun.Load() * (100 << 10)
				if limit := int64(2*roomSize + holdSize + 2<<20); held > limit {
					t.Errorf("%d bytes of answers are held, want at most %d", held, limit)
				}
				close(out.open)
				synctest.Wait()
				_ = r.in.Close()
				<-r.done
				if got := strings.Count(out.String(), "\n"); got != 260 {
					t.Errorf("%d lines were answered, want 260", got)
				}
			})
		})
	}
}

func item(id, value int) string { return fmt.Sprintf(`{"id":%d,"item":%d}`, id, value) }
func done(id int) string        { return fmt.Sprintf(`{"id":%d,"done":true}`, id) }

// ticking emits n items, one each second. n is its argument.
func ticking(ctx context.Context, c hook.Call) (hook.Result, error) {
	var n []int
	if err := json.Unmarshal(c.Args.JSON, &n); err != nil {
		return hook.Result{}, &hook.Error{Kind: hook.Request, Err: err}
	}
	for i := range n[0] {
		if err := c.Emit(hook.Item{Value: []byte(fmt.Sprint(i))}); err != nil {
			return hook.Result{}, &hook.Error{Kind: hook.Canceled, Err: err}
		}
		time.Sleep(time.Second)
	}
	return hook.Result{Streamed: true}, nil
}

func TestStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(ticking), nil)
		r.feed("2", "4", "0", "1")
		r.wants(t, item(1, 0))
		time.Sleep(time.Second)
		r.wants(t, item(1, 0), item(1, 1))
		time.Sleep(time.Second) // the items that the second stream has emitted meanwhile come at once
		all := []string{item(1, 0), item(1, 1), done(1), item(2, 0), item(2, 1), item(2, 2)}
		r.wants(t, all...)
		time.Sleep(time.Second)
		all = append(all, item(2, 3))
		r.wants(t, all...)
		_ = r.in.Close()
		<-r.done
		r.wants(t, append(all, done(2), done(3), item(4, 0), done(4))...)
	})
}

func TestUnorderedStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, callerFunc(ticking), func(o *Options) { o.Unordered = true })
		r.feed("1")
		synctest.Wait()
		time.Sleep(time.Second / 2)
		r.feed("1")
		time.Sleep(2 * time.Second)
		r.wants(t, item(1, 0), item(2, 0), done(1), done(2))
		_ = r.in.Close()
		<-r.done
	})
}

// TestStreamWaits checks that a stream behind an unanswered line waits when it has emitted much,
// fails when it times out, and that a later stream continues once that line is answered.
func TestStreamWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open, given := make(chan struct{}), new(atomic.Int64)
		value := append(append([]byte{'"'}, bytes.Repeat([]byte("x"), 1<<20)...), '"')
		var first sync.Once
		caller := callerFunc(func(ctx context.Context, c hook.Call) (hook.Result, error) {
			waits := false
			first.Do(func() { waits = true })
			if waits {
				<-open
				return valued([]byte("1")), nil
			}
			for range 40 {
				if err := c.Emit(hook.Item{Value: value}); err != nil {
					return hook.Result{}, hook.Ended(ctx, c.Hook, "", true)
				}
				given.Add(1)
			}
			return hook.Result{Streamed: true}, nil
		})
		var out counter
		r := start(t, caller, func(o *Options) { o.Out, o.Timeout, o.Jobs = &out, time.Minute, 3 })
		r.feed("0")
		synctest.Wait()
		r.feed("0", "0")
		synctest.Wait()
		if got := given.Load(); got < holdSize>>20 || got > holdSize>>20+2 {
			t.Errorf("%d items of 1 MiB were taken, want about %d", got, holdSize>>20)
		}
		time.Sleep(time.Minute) // the timeout of the streams
		synctest.Wait()
		if got := r.Counts(); got.Running != 1 || got.Failed != 2 {
			t.Errorf("counts are %+v, want both streams to have failed", got)
		}
		close(open)
		synctest.Wait()
		r.feed("0")
		synctest.Wait()
		if got := given.Load(); got < 40+holdSize>>20 {
			t.Errorf("%d items were given, want those of a whole stream more", got)
		}
		_ = r.in.Close()
		<-r.done
	})
}

// written is a record without answers. It sends the lines that it gets to a channel.
type written struct {
	noRecord
	lines chan string
}

func (w written) Write(lines []byte) (int, error) {
	w.lines <- string(lines)
	return len(lines), nil
}

// TestRecordBehindSlow checks that an answer that waits for a slow line is recorded at once.
func TestRecordBehindSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		record := written{lines: make(chan string, 10)}
		r := start(t, callerFunc(sleeper), func(o *Options) { o.Jobs, o.Record = 2, record })
		r.feed("60", "0")
		time.Sleep(time.Second)
		r.wants(t)
		select {
		case got := <-record.lines:
			if !strings.Contains(got, `[0]`) {
				t.Errorf("recorded %q", got)
			}
		default:
			t.Error("nothing is recorded")
		}
		_ = r.in.Close()
		<-r.done
		r.wants(t, result(1, 60), result(2, 0))
	})
}
