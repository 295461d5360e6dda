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
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// printLimit is the maximum time that an answer waits for the output printed before it.
var printLimit = 20 * time.Millisecond // tests wait longer

const (
	// closeLimit is the time that a worker may live after its last frame, or after it has
	// closed its pipe.
	closeLimit = time.Second
	// exitLimit is the time that the calls of such a worker wait for its exit, which explains
	// what happened.
	exitLimit = 100 * time.Millisecond
	// batchSize is the maximum size of small frames that are written together.
	batchSize = 32 << 10
	// restFor is the pause of the reader after an answer of a series with less than restSize
	// bytes, if at least restAhead of the series' calls are unanswered. The fastest worker
	// needs longer for those calls, and the pipe has room for their answers. Without pauses,
	// each answer wakes the reader, which costs both sides: 400 000 trivial calls took 3.3 s of
	// CPU time, and with pauses they take 2.0 s.
	restFor   = 400 * time.Microsecond
	restAhead = 160
	restSize  = 256
)

// outgoing is a frame to write, or the frames of a series. call is nil if they do not begin a call.
type outgoing struct {
	call  *call
	last  uint32 // the number of the last call
	frame []byte
	urge  bool // SIGURG follows
}

// post queues a frame that does not begin a call.
func (inst *instance) post(f []byte) {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	inst.enqueue(outgoing{frame: f})
}

// enqueue queues a frame. mu is held.
func (inst *instance) enqueue(o outgoing) {
	inst.debugFrame("to worker", frame{kind: o.frame[4], call: binary.LittleEndian.Uint32(o.frame[5:]), body: o.frame[headerSize:]})
	inst.queue = append(inst.queue, o)
	inst.queued.Signal()
}

// write writes queued frames until the worker is over. It writes small frames together.
func (inst *instance) write() {
	var batch []byte
	for urge := false; ; {
		if batch, urge = inst.nextBatch(batch[:0]); len(batch) == 0 {
			return
		}
		_, _ = inst.proc.Conn().Write(batch) // if the worker is gone, its exit is reported
		if urge {
			_ = inst.proc.Urge()
		}
		if cap(batch) > 2*batchSize {
			batch = nil
		}
	}
}

// nextBatch waits for frames, removes them from the queue, and marks their calls as sent.
// It returns an empty batch when the worker is over. urge reports whether SIGURG follows.
func (inst *instance) nextBatch(batch []byte) (_ []byte, urge bool) {
	runtime.Gosched() // lets callers that are about to post join the batch
	inst.mu.Lock()
	defer inst.mu.Unlock()
	for len(inst.queue) == 0 && !inst.over {
		inst.queued.Wait()
	}
	n := 0
	for _, o := range inst.queue {
		if n > 0 && len(batch)+len(o.frame) > batchSize {
			break
		}
		if o.call != nil {
			o.call.sent = o.last
		}
		if n++; n == 1 && len(o.frame) > batchSize {
			batch = o.frame // avoids a copy
		} else {
			batch = append(batch, o.frame...)
		}
		urge = urge || o.urge
	}
	inst.queue = slices.Delete(inst.queue, 0, n)
	return batch, urge
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

// read delivers the worker's frames until no more come. It returns when the process is gone.
func (inst *instance) read() {
	defer close(inst.lost)
	pipe := &pipeReader{conn: inst.proc.Conn()}
	buffered := bufio.NewReaderSize(pipe, 64<<10)
	printed := 0 // the value of pipe.reads when output was last delivered
	for {
		f, err := readFrame(buffered)
		if err == nil {
			inst.debugFrame("from worker", f)
			if f.endsCall() && printed != pipe.reads {
				inst.proc.Settle(printLimit) // output comes before the answer
				printed = pipe.reads
			}
			err = inst.deliver(f)
		}
		if err != nil {
			inst.end(err)
			return
		}
		if buffered.Buffered() == 0 && f.endsCall() && len(f.body) < restSize && inst.unanswered() >= restAhead {
			inst.proc.Conn().Pause(restFor)
		}
	}
}

// unanswered returns the number of calls of a series that were sent and are not answered.
func (inst *instance) unanswered() uint32 {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	if len(inst.calls) == 0 {
		return 0
	}
	return inst.calls[0].last + 1 - inst.calls[0].number
}

// endsCall reports whether a frame ends a call.
func (f frame) endsCall() bool {
	return f.call != 0 && f.kind != frameItem && f.kind != frameTrace
}

// errOver reports the last frame of a worker whose main thread has ended.
var errOver = errors.New("no answer follows")

// end marks the calls as lost after the last frame. reason says why no more frames come. end
// returns when the process is gone.
func (inst *instance) end(reason error) {
	isEnd := errors.Is(reason, io.EOF) || errors.Is(reason, io.ErrUnexpectedEOF) || errors.Is(reason, os.ErrClosed)
	if !isEnd && reason != errOver && !hook.IsClosed(inst.proc.Done()) {
		inst.fault = reason
	}
	if reason == errOver && !inst.stopping.Load() {
		inst.mainEnded = true
		inst.loseCalls() // at once, because the process may live a moment longer
	}
	inst.waitGone()
	inst.proc.Conn().Close() // nothing else closes it if the process exited by itself
	inst.loseCalls()
}

// loseCalls marks the calls as lost. It has no effect the second time.
func (inst *instance) loseCalls() {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	if inst.over {
		return
	}
	inst.over = true
	inst.queued.Signal()
	for _, c := range inst.calls {
		c.begun = c.sent >= c.number && c.hasTurn
		close(c.done)
	}
}

// waitGone returns when the process is gone. It kills a worker that has closed its pipe and
// still runs, because nothing can speak to it.
func (inst *instance) waitGone() {
	if hook.Within(inst.proc.Done(), closeLimit) {
		return
	}
	if inst.stopping.Load() && !inst.mainEnded || inst.proc.Exited() {
		<-inst.proc.Done() // the stop ladder or the sweep bounds the wait
		return
	}
	if inst.fault == nil && !inst.isTerminating() && !inst.mainEnded {
		inst.fault = errors.New("the plugin closed it")
	}
	inst.forced.Store(true)
	inst.proc.Kill()
}

// deliver handles one frame. An error means that the worker cannot be trusted.
func (inst *instance) deliver(f frame) error {
	switch f.kind {
	case frameSource, frameHello, frameReady:
		return inst.deliverStartup(f)
	case frameOver:
		return errOver
	case frameFiles:
		var files []schema.Path
		if err := json.Unmarshal(f.body, &files); err != nil {
			return fmt.Errorf("the worker's files: %w", err)
		}
		inst.launcher.addFiles(files)
		return nil
	case frameError:
		if f.call == 0 {
			return inst.deliverStartup(f)
		}
	}
	inst.mu.Lock()
	defer inst.mu.Unlock()
	c := inst.find(f.call)
	switch {
	case f.kind != frameUnbegun && f.kind != frameTask && f.kind != frameTrace:
		return inst.deliverAnswer(c, f)
	case c == nil: // the call was answered meanwhile, or rejected with an earlier call
	case f.kind == frameUnbegun:
		inst.refuse(c, f.call)
	case f.kind == frameTrace && c.number == f.call:
		c.stood = f
	case f.kind == frameTask && inst.launcher.cfg.Concurrency > 1: // otherwise the worker rejects the calls behind a task
		c.isTask = true
		inst.passTurn()
	}
	return nil
}

// deliverStartup answers a request for the source. It delivers hello, ready, and the
// error of a worker that is not ready.
func (inst *instance) deliverStartup(f frame) error {
	if strings.IndexByte(inst.awaited, f.kind) < 0 {
		return fmt.Errorf("an unexpected frame of type %c", f.kind)
	}
	switch f.kind {
	case frameSource:
		inst.post(newFrame(frameSource, 0, source()...))
		return nil
	case frameHello:
		inst.awaited = string([]byte{frameReady, frameError})
	default:
		inst.awaited = ""
		if f.kind == frameError {
			inst.stopping.Store(true) // start sets it, too, but perhaps too late
		}
	}
	inst.startup <- f
	return nil
}

// deliverAnswer passes an item or an answer to its call. mu is held.
func (inst *instance) deliverAnswer(c *call, f frame) error {
	if c == nil || c.sent < f.call || c.number != f.call {
		return fmt.Errorf("an answer for call %d, which is not running", f.call)
	}
	if f.kind != frameItem {
		c.underWay = 0
		if c.number++; c.number > c.last {
			defer inst.remove(c)
		}
	}
	return c.add(f)
}

// find returns the call or series that contains the unanswered call with a number, or nil
// if there is none. mu is held.
func (inst *instance) find(number uint32) *call {
	for _, c := range inst.calls { // usually the first one matches
		if c.number <= number && number <= c.last {
			return c
		}
	}
	return nil
}

// refuse removes the call with a number, and the calls behind it in its series, because they
// have not begun. mu is held.
func (inst *instance) refuse(c *call, number uint32) {
	if c.last = number - 1; c.number > c.last {
		inst.remove(c)
		return
	}
	c.signal()
}

// remove ends a call and lets the next ones begin. mu is held.
func (inst *instance) remove(c *call) {
	close(c.done)
	inst.calls = slices.DeleteFunc(inst.calls, func(other *call) bool { return other == c })
	inst.slots <- struct{}{}
	inst.passTurn()
}

// passTurn gives a turn to the calls that the worker may run now: the first one, and each
// one that has only tasks before it. With threads, all calls get a turn. mu is held.
func (inst *instance) passTurn() {
	for _, c := range inst.calls {
		if !c.hasTurn && c.turn != nil {
			close(c.turn)
		}
		c.hasTurn = true
		if !c.isTask && !inst.launcher.cfg.Threads {
			return
		}
	}
}

// debugFrame logs a frame with the beginning of its body.
func (inst *instance) debugFrame(way string, f frame) {
	if inst.launcher.cfg.DebugWire {
		const shown = 200
		inst.launcher.cfg.Debug("wire", fmt.Sprintf("%s %c call %d, %d bytes: %s", way, f.kind, f.call, len(f.body), f.body[:min(len(f.body), shown)]))
	}
}
