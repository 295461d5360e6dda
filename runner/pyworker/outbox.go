package pyworker

import (
	"runtime"
	"slices"

	"github.com/pyplug/pyplug/runner/wire"
)

const (
	// bigFrame is the size from which writing a frame may wait for the worker to
	// read. Anything smaller fits into an empty pipe.
	bigFrame = 32 << 10
	// batch is how much is written at once of what several callers send.
	batch = 32 << 10
)

// outbox is what is to be written to a worker. Whoever has the only call writes
// its frame himself; of several at once, a goroutine writes the frames together,
// so that nobody waits for a worker that does not read. It is behind the
// instance's mu; writing is held by whoever writes.
type outbox struct {
	writing bool
	queue   []outgoing
}

// outgoing is one frame that waits. Of a call, p is not nil.
type outgoing struct {
	p     *pending
	frame []byte
}

// post sends a call's frame. It is called with mu held, and gives it up.
func (w *instance) post(p *pending) {
	if w.out.writing || len(w.calls) > 1 || len(p.frame) > bigFrame {
		w.enqueue(outgoing{p, p.frame})
		w.mu.Unlock()
		return
	}
	p.sent, w.out.writing = written, true
	w.mu.Unlock()
	_, _ = w.proc.Conn().Write(p.frame) // a worker that is gone is told by its exit
	w.mu.Lock()
	w.out.writing = false
	w.startWriter()
	w.mu.Unlock()
}

// control sends a frame that is no call. It does not wait. It is called with mu
// held.
func (w *instance) control(t wire.Type, call uint32, body ...[]byte) {
	w.debugFrame("to worker", wire.Frame{Type: t, Call: call}, body...)
	w.enqueue(outgoing{frame: wire.Append(nil, t, call, body...)})
}

func (w *instance) enqueue(o outgoing) {
	w.out.queue = append(w.out.queue, o)
	w.startWriter()
}

// startWriter starts the goroutine that writes what waits, unless somebody writes.
func (w *instance) startWriter() {
	if w.out.writing || len(w.out.queue) == 0 {
		return
	}
	w.out.writing = true
	go w.write() // ends when nothing waits, and with the process
}

// write writes what waits until nothing does.
func (w *instance) write() {
	runtime.Gosched() // those who are about to call come along
	var together []byte
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.out.queue) > 0 {
		together = w.gather(together[:0])
		frames, big := together, (*pending)(nil)
		if len(frames) == 0 {
			big, frames = w.out.queue[0].p, w.out.queue[0].frame
			w.out.queue = slices.Delete(w.out.queue, 0, 1)
		}
		if big != nil {
			big.sent = partly
		}
		w.mu.Unlock()
		_, _ = w.proc.Conn().Write(frames)
		w.mu.Lock()
		if big != nil {
			big.sent = written
		}
	}
	w.out.writing = false
}

// gather takes small frames from the front of the queue; none when the first is
// large.
func (w *instance) gather(together []byte) []byte {
	n := 0
	for _, o := range w.out.queue {
		if len(o.frame) > bigFrame || n > 0 && len(together)+len(o.frame) > batch {
			break
		}
		together = append(together, o.frame...)
		if o.p != nil {
			o.p.sent = written
		}
		n++
	}
	w.out.queue = slices.Delete(w.out.queue, 0, n)
	return together
}

// unqueue takes a frame back that was not written; false when it was.
func (w *instance) unqueue(p *pending) bool {
	at := slices.IndexFunc(w.out.queue, func(o outgoing) bool { return o.p == p })
	if at < 0 {
		return false
	}
	w.out.queue = slices.Delete(w.out.queue, at, at+1)
	return true
}
