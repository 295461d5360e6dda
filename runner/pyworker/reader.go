package pyworker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/wire"
)

// read hands each frame to whom it is for, until no more comes. It ends when
// the process is gone, at the latest.
func (w *instance) read() {
	defer close(w.lost)
	r := wire.NewReader(w.proc.Conn(), 0)
	settled := false
	for {
		// What comes with one read was answered before it: so was printed what is
		// to come before it.
		fresh := r.Buffered() == 0
		f, err := r.Next()
		if err == nil {
			if fresh || !settled {
				settled = w.proc.Settled()
			}
			w.debugFrame("from worker", f, f.Body)
			err = w.deliver(f, settled)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !gone(w.proc) {
			w.fault = err
		}
		w.waitGone()
		w.proc.Conn().Close() // what dies by itself is never stopped
		w.abandon()
		return
	}
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
