package pyworker

import (
	"fmt"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/wire"
)

// progress is how far a call's frame has come.
type progress uint8

const (
	queued  progress = iota // none of it is written: it can be taken back
	partly                  // it is being written
	written                 // the worker has it, or will
)

// pending is one call that waits for its answer. The reader puts frames in, the
// caller takes them out.
type pending struct {
	hook      string
	began     time.Time
	took      time.Duration         // valid when it is over
	emit      func(hook.Item) error // takes the items
	collects  bool                  // they are kept instead
	collected [][]byte
	probe     bool          // a worker is not condemned for it
	frame     []byte        // the call's; kept for the next call
	wake      chan struct{} // has a token when something below has changed

	// Protected by the instance's mu while the call is among its calls.
	number   uint32
	sent     progress
	answered bool
	answer   wire.Frame
	settled  bool // what the hook printed before its answer has been handed on
	lost     bool // no answer will come
	begun    bool // it may have begun; valid when it is lost
	given    bool // its caller is gone; whatever still comes is nobody's
	reusable bool // nobody else has p or its frame
	items    [][]byte
	under    int // bytes of items under way: come, or waiting, but not yet granted again

	stood []hook.Frame // where it was after it was cancelled, if it went on; the same
}

// largestKept is the size of the frame that is kept for the next call.
const largestKept = 64 << 10

var spare = sync.Pool{New: func() any { return &pending{wake: make(chan struct{}, 1)} }}

// newPending is a call of which nothing is sent, with room for its header.
func newPending(hookName string) *pending {
	p := spare.Get().(*pending)
	select {
	case <-p.wake: // of the call before
	default:
	}
	*p = pending{hook: hookName, began: time.Now(), wake: p.wake, frame: append(p.frame[:0], emptyHeader[:]...)}
	return p
}

var emptyHeader [wire.HeaderSize]byte

// free lets another call use p, if its caller was the last who did.
func (p *pending) free() {
	if p.reusable && cap(p.frame) <= largestKept {
		p.answer, p.items, p.collected, p.emit = wire.Frame{}, nil, nil, nil
		spare.Put(p)
	}
}

// take is called by the reader for each frame of the call.
func (p *pending) take(f wire.Frame, settled bool) error {
	switch {
	case f.Type != wire.Item:
		p.answered, p.answer, p.settled = true, f, settled
	case p.given: // it may have yielded before it saw the cancel
		return nil
	case p.emit == nil && !p.collects:
		return fmt.Errorf("an item for call %d, which is no stream", f.Call)
	case p.under > 0 && p.under+len(f.Body) > wire.Window:
		return fmt.Errorf("call %d has more than %d bytes of items under way", f.Call, wire.Window)
	default:
		p.under += len(f.Body)
		p.items = append(p.items, f.Body)
	}
	p.tell()
	return nil
}

// lose tells that no answer will come, and whether the call may have begun.
func (p *pending) lose(begun bool) {
	p.lost, p.begun = true, begun
	p.tell()
}

func (p *pending) tell() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
