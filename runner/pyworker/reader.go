package pyworker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/wire"
)

// With one processor the caller of a quick call waits for its answer in its own
// thread: to be woken by the goroutine that reads takes 2 µs more, a fifth of such a
// call. With several an answer wakes up the runtime's poller as well, on another
// processor, and the two are in each other's way: on a busy machine that took twice
// as long.
const (
	// quick is how long a call took after which the next is expected to be so, too.
	quick = 200 * time.Microsecond
	// patience is how long the caller waits so. Other goroutines may have to wait as
	// long, once, when a call takes longer than those before. Less would cost each
	// call: its limit is then the next timer to expire, which is programmed.
	patience = 5 * time.Millisecond
	// yieldAfter is how often such a goroutine lets others run. One that never does
	// has its processor taken away 10 000 times a second, after its first 10 ms.
	yieldAfter = 5 * time.Millisecond
)

// reader takes the worker's frames. Whoever holds turn reads: the goroutine in
// read, or the caller of the only call.
type reader struct {
	turn    sync.Mutex
	frames  *wire.Reader
	settled bool      // what was printed before the last answer has been handed on
	yielded time.Time // when a caller who read last let others run
	err     error     // why no frame comes any more
}

// unwaiting is the worker's pipe where nobody waits.
type unwaiting struct{ *proc.Conn }

func (c unwaiting) Read(b []byte) (int, error) { return c.ReadNow(b) }

// read hands each frame to whom it is for, until no more comes. It ends when
// the process is gone, at the latest.
func (w *instance) read() {
	defer close(w.lost)
	for {
		err := w.take()
		if err == nil || errors.Is(err, proc.ErrNotYet) {
			if w.proc.Conn().Wait() == nil {
				continue
			}
			if err = w.take(); err == nil {
				continue
			}
			// Else the silence is the end, or what the caller of a call saw.
		}
		if !isEnd(err) && !gone(w.proc) {
			w.fault = err
		}
		w.waitGone()
		w.proc.Conn().Close() // what dies by itself is never stopped
		w.abandon()
		return
	}
}

// isEnd tells whether reading ended by an end, and not by a fault: the worker's, the
// silence after it, or that the stop ladder closed the pipe.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, proc.ErrNotYet) || errors.Is(err, os.ErrClosed)
}

// take takes the frames that have come; the error tells why there are no more.
func (w *instance) take() error {
	w.reader.turn.Lock()
	defer w.reader.turn.Unlock()
	return w.handOn(false)
}

// takeFirst waits for a moment until a frame comes, and takes those that have. It
// is for the caller of the only call, and does nothing while somebody else reads.
func (w *instance) takeFirst(p *pending) {
	if !w.reader.turn.TryLock() {
		return
	}
	defer w.reader.turn.Unlock()
	if len(p.wake) > 0 { // it was taken before
		return
	}
	if p.began.Sub(w.reader.yielded) > yieldAfter {
		runtime.Gosched()
		w.reader.yielded = p.began
	}
	ready, settled := w.proc.Await(patience)
	if !ready {
		return
	}
	if err := w.handOn(settled); err != nil && !errors.Is(err, proc.ErrNotYet) {
		w.proc.Conn().Wake() // for the other to see it
	}
}

// handOn hands on the frames that come with one read, or have come. It is called
// with turn held. FirstSettled is what is known of the first of them.
func (w *instance) handOn(firstSettled bool) error {
	r := &w.reader
	for fresh := true; r.err == nil && (fresh || r.frames.Buffered() > 0); fresh = false {
		f, err := r.frames.Next()
		switch {
		case errors.Is(err, proc.ErrNotYet):
			return err
		case err != nil:
			r.err = err
			return err
		case firstSettled:
			r.settled = false // of those after it nothing is known
		case fresh || !r.settled:
			// What comes with one read was answered before it: so was printed what is
			// to come before it.
			r.settled = w.proc.Settled()
		}
		w.debugFrame("from worker", f, f.Body)
		r.err = w.deliver(f, firstSettled || r.settled)
		firstSettled = false
	}
	return r.err
}

// waitGone returns when the process is gone. A closed pipe is no death: a
// worker that lost its pipe and lives cannot be spoken to, and is killed.
func (w *instance) waitGone() {
	select {
	case <-w.proc.Done():
		return
	case <-time.After(time.Second):
	}
	if w.stopping.Load() {
		<-w.proc.Done() // the ladder bounds it
		return
	}
	w.mu.Lock()
	if w.fault == nil && !w.condemned {
		w.fault = errClosed
	}
	w.mu.Unlock()
	w.hurried.Store(true)
	w.proc.Kill()
}

func gone(p *proc.Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// deliver hands one frame on. An error means that the worker cannot be trusted.
func (w *instance) deliver(f wire.Frame, settled bool) error {
	switch f.Type {
	case wire.Hello:
		var h hello
		if err := json.Unmarshal(f.Body, &h); err != nil {
			return fmt.Errorf("hello: %w", err)
		}
		if h.Wire != wire.Version {
			return fmt.Errorf("hello: wire version %d, want %d", h.Wire, wire.Version)
		}
		if w.hailed {
			return errors.New("a second hello")
		}
		w.hailed = true
		w.greeted <- hook.Info{PID: h.PID, Python: h.Python}
		return nil
	case wire.Ready:
		return w.answerStart(f)
	case wire.Error:
		if f.Call == 0 {
			return w.answerStart(f)
		}
	case wire.Overlap:
		w.overlap()
		return nil
	case wire.Trace:
		return w.trace(f)
	case wire.Result, wire.Bytes, wire.Item, wire.End:
	default:
		return fmt.Errorf("a frame of type %c, which only pyplug sends", f.Type)
	}
	return w.deliverCall(f, settled)
}

// deliverCall hands on what is for a call.
func (w *instance) deliverCall(f wire.Frame, settled bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.calls[f.Call]
	if p == nil || p.sent == queued {
		return fmt.Errorf("an answer for call %d, which is not running", f.Call)
	}
	if err := p.take(f, settled); err != nil || !p.answered {
		return err
	}
	w.leave(p)
	if next := w.nextGiven(); next != nil {
		go w.overtake(next)
	}
	return nil
}

func (w *instance) answerStart(f wire.Frame) error {
	if w.loaded {
		return errors.New("a second answer to load")
	}
	w.loaded = true
	w.ready <- f
	return nil
}
