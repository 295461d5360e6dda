package pyworker

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// printLimit bounds how long an answer waits for what was printed before it.
var printLimit = 20 * time.Millisecond // tests wait longer

const (
	// closeLimit is how long a worker may live after it has closed its pipe.
	closeLimit = time.Second
	// batchSize is how many bytes of small frames are written at once.
	batchSize = 32 << 10
	// restFor is how long the reader pauses after a small answer of a series if at least
	// restAhead of its calls are unanswered. The fastest worker needs longer for those
	// calls, and as many small answers fit into the pipe. Without pauses each answer
	// wakes the reader, which costs both sides: 400 000 trivial calls took 3.3 s of CPU
	// time, and with pauses they take 2.0 s.
	restFor   = 400 * time.Microsecond
	restAhead = 160
	restSize  = 256
)

// outgoing is a frame to write, or those of a series. If it begins calls, call is not nil.
type outgoing struct {
	call  *call
	last  uint32 // number of the last one
	frame []byte
}

// post queues a frame that begins no call.
func (w *instance) post(f []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.enqueue(outgoing{frame: f})
}

// enqueue queues a frame. Requires mu.
func (w *instance) enqueue(o outgoing) {
	w.debugFrame("to worker", frame{kind: o.frame[4], call: binary.LittleEndian.Uint32(o.frame[5:]), body: o.frame[headerSize:]})
	w.queue = append(w.queue, o)
	w.queued.Signal()
}

// write writes queued frames, small ones together, until the worker is over.
func (w *instance) write() {
	var batch []byte
	for {
		batch = w.nextBatch(batch[:0])
		if len(batch) == 0 {
			return
		}
		_, _ = w.proc.Conn().Write(batch) // a worker that is gone is reported by its exit
		if cap(batch) > 2*batchSize {
			batch = nil
		}
	}
}

// nextBatch waits for frames, removes them from the queue, and marks their calls as sent.
// It returns nothing when the worker is over.
func (w *instance) nextBatch(batch []byte) []byte {
	runtime.Gosched() // callers that are about to post join the batch
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && !w.over {
		w.queued.Wait()
	}
	n := 0
	for _, o := range w.queue {
		if n > 0 && len(batch)+len(o.frame) > batchSize {
			break
		}
		if o.call != nil {
			o.call.sent = o.last
		}
		if n++; n == 1 && len(o.frame) > batchSize {
			batch = o.frame // without a copy
		} else {
			batch = append(batch, o.frame...)
		}
	}
	w.queue = slices.Delete(w.queue, 0, n)
	return batch
}

// pipeReader counts the reads of the pipe.
type pipeReader struct {
	conn  *proc.Conn
	reads int
}

func (r *pipeReader) Read(b []byte) (int, error) {
	r.reads++
	return r.conn.Read(b)
}

// read delivers the worker's frames until no more come, at the latest until the process
// is gone.
func (w *instance) read() {
	defer close(w.lost)
	pipe := &pipeReader{conn: w.proc.Conn()}
	buffered := bufio.NewReaderSize(pipe, 64<<10)
	printed := 0 // pipe.reads when output was last delivered
	for {
		f, err := readFrame(buffered)
		if err == nil {
			w.debugFrame("from worker", f)
			if f.endsCall() && printed != pipe.reads {
				w.proc.Settle(printLimit) // output comes before the answer
				printed = pipe.reads
			}
			err = w.deliver(f)
		}
		if err != nil {
			w.end(err)
			return
		}
		if buffered.Buffered() == 0 && f.endsCall() && len(f.body) < restSize && w.unanswered() >= restAhead {
			w.proc.Conn().Pause(restFor)
		}
	}
}

// unanswered returns how many calls of a series are sent and not answered.
func (w *instance) unanswered() uint32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.calls) == 0 {
		return 0
	}
	return w.calls[0].last + 1 - w.calls[0].number
}

// endsCall reports whether a frame is the answer of a call.
func (f frame) endsCall() bool {
	return f.call != 0 && f.kind != frameItem && f.kind != frameTrace
}

// end marks the calls as lost when no frame comes any more. reason says why.
func (w *instance) end(reason error) {
	select {
	case <-w.proc.Done():
	default:
		if !errors.Is(reason, io.EOF) && !errors.Is(reason, io.ErrUnexpectedEOF) && !errors.Is(reason, os.ErrClosed) {
			w.fault = reason
		}
	}
	w.waitGone()
	w.proc.Conn().Close() // nothing else closes it if the process ended by itself
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.queued.Signal()
	for _, c := range w.calls {
		c.begun = c.sent >= c.number && c.hasTurn
		close(c.done)
	}
}

// waitGone returns when the process is gone. A worker that has closed its pipe may still
// run. Nothing can speak to it, so waitGone kills it.
func (w *instance) waitGone() {
	select {
	case <-w.proc.Done():
		return
	case <-time.After(closeLimit):
	}
	if w.stopping.Load() || w.proc.Exited() {
		<-w.proc.Done() // the stop ladder bounds it, or the sweep
		return
	}
	if w.fault == nil && !w.isCondemned() {
		w.fault = errors.New("the plugin closed it")
	}
	w.forced.Store(true)
	w.proc.Kill()
}

// deliver handles one frame. An error means that the worker cannot be trusted.
func (w *instance) deliver(f frame) error {
	switch f.kind {
	case frameSource, frameHello, frameReady:
		return w.deliverStartup(f)
	case frameFiles:
		var files []schema.Path
		if err := json.Unmarshal(f.body, &files); err != nil {
			return fmt.Errorf("the worker's files: %w", err)
		}
		w.setFiles(files)
		return nil
	case frameTrace:
		return w.deliverTrace(f)
	case frameUnbegun:
		w.mu.Lock()
		defer w.mu.Unlock()
		if c := w.find(f.call); c != nil { // else it is refused with one before it
			w.refuse(c, f.call)
		}
		return nil
	case frameTask:
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.cfg.Concurrency == 1 {
			return nil // the worker refuses calls behind one that is not answered
		}
		if c := w.find(f.call); c != nil { // else it was answered meanwhile
			c.isTask = true
			w.passTurn()
		}
		return nil
	}
	if f.call == 0 && f.kind == frameError {
		return w.deliverStartup(f)
	}
	return w.deliverAnswer(f)
}

// deliverStartup answers a request for the source. It delivers hello, ready, and the
// error of a worker that is not ready.
func (w *instance) deliverStartup(f frame) error {
	switch {
	case w.loadAnswered, f.kind != frameReady && f.kind != frameError && w.greeted, f.kind == frameReady && !w.greeted:
		return fmt.Errorf("an unexpected frame of type %c", f.kind)
	case f.kind == frameSource:
		w.post(newFrame(frameSource, 0, source()...))
		return nil
	case f.kind == frameHello:
		w.greeted = true
	default:
		w.loadAnswered = true
	}
	w.startup <- f
	return nil
}

// deliverTrace records where a canceled call is that still runs.
func (w *instance) deliverTrace(f frame) error {
	stood := new(hook.Raised)
	if err := json.Unmarshal(f.body, stood); err != nil {
		return fmt.Errorf("the worker's trace: %w", err)
	}
	addSource(stood, make(map[string][]string))
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.find(f.call); c != nil && c.number == f.call { // else it was answered meanwhile
		c.stood = stood.Frames
	}
	return nil
}

// deliverAnswer passes an item or an answer to its call.
func (w *instance) deliverAnswer(f frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.find(f.call)
	if c == nil || c.sent < f.call || c.number != f.call {
		return fmt.Errorf("an answer for call %d, which is not running", f.call)
	}
	if f.kind != frameItem {
		c.underWay = 0
		if c.number++; c.number > c.last {
			defer w.remove(c)
		}
	}
	return c.add(f)
}

// find returns the call or series that contains the unanswered call of a number, or nil
// if there is none. Requires mu.
func (w *instance) find(number uint32) *call {
	for _, c := range w.calls { // mostly the first
		if c.number <= number && number <= c.last {
			return c
		}
	}
	return nil
}

// refuse removes the call of a number, and those behind it in its series, because they
// have not begun. Requires mu.
func (w *instance) refuse(c *call, number uint32) {
	if c.last = number - 1; c.number > c.last {
		w.remove(c)
	}
}

// remove ends a call and lets the next ones begin. Requires mu.
func (w *instance) remove(c *call) {
	close(c.done)
	w.calls = slices.DeleteFunc(w.calls, func(other *call) bool { return other == c })
	w.slots <- struct{}{}
	w.passTurn()
}

// passTurn gives a turn to the calls that the worker may run now: the first one, and each
// one that has only tasks before it. With threads these are all calls. Requires mu.
func (w *instance) passTurn() {
	for _, c := range w.calls {
		c.takeTurn()
		if !c.isTask && !w.cfg.Threads {
			return
		}
	}
}

// debugFrame logs a frame with the beginning of its body.
func (w *instance) debugFrame(way string, f frame) {
	if w.cfg.DebugWire {
		const shown = 200
		w.cfg.Debug("wire", fmt.Sprintf("%s %c call %d, %d bytes: %s", way, f.kind, f.call, len(f.body), f.body[:min(len(f.body), shown)]))
	}
}
