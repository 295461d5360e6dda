package lines

import (
	"context"
	"errors"
	"fmt"

	"github.com/pyplug/pyplug/runner/hook"
)

// keptSize is the maximum size in bytes of the items of a recorded stream, which are held in memory
// until it ends. A longer stream is not recorded.
const keptSize = 16 << 20

// Record keeps the answers of calls, so that another run does not make these calls again.
// Different methods may be called at the same time.
type Record interface {
	// Find counts a call. It returns the number of its occurrence, from 1, and a function that
	// reads the recorded answer. read is nil if there is no such answer, or if it is an error.
	// Another goroutine calls the read functions, in the order in which Find returned them. read
	// returns nil if the answer belongs to another call.
	Find(c Call) (occurrence int, read func() (*Answer, error))
	// Write writes lines with calls and their answers, see [Line].
	Write(lines []byte) (int, error)
}

// RecordFailed returns the error of a [Record] that cannot be read or written.
func RecordFailed(err error) *hook.Error {
	return &hook.Error{Kind: hook.Failed, Reason: hook.OutputFailed, Err: fmt.Errorf("the record: %w", err)}
}

// findKept finds the answer of a line in the record.
func (e *Engine) findKept(t *task) {
	if e.o.Record != nil && t.bad == nil {
		t.Args = compact(t.Args)
		t.occurrence, t.readKept = e.o.Record.Find(t.Call)
	}
}

// readKept reads the answer that findKept has found.
func (e *Engine) readKept(t *task) error {
	if t.readKept == nil {
		return nil
	}
	kept, err := t.readKept()
	if err != nil {
		return RecordFailed(err)
	}
	if t.readKept = nil; kept != nil {
		t.kept = func(dst []byte) []byte { return e.appendKept(dst, t, kept) }
	}
	return nil
}

// keepItem holds an item for the record until the stream ends, unless the stream is too long.
func (e *Engine) keepItem(t *task, item hook.Item) {
	if e.o.Record == nil {
		return
	}
	if t.itemsSize += len(item.Value); t.itemsSize > keptSize {
		t.items = nil
		return
	}
	t.items = append(t.items, item)
}

// finish answers a line whose items are written, and records the answer. It does not record a line
// that could not be parsed.
func (e *Engine) finish(ctx context.Context, t *task, a *Answer, last func(dst []byte) []byte) {
	if e.o.Record != nil && t.bad == nil && (t.itemsSize <= keptSize || a.Error != nil) {
		a.Items = t.items
		t.record = AppendKept(nil, t.Call, t.occurrence, a)
	}
	t.items = nil
	e.out.finish(ctx, t, last)
}

// appendKept appends all lines of an answer that the record has.
func (e *Engine) appendKept(dst []byte, t *task, a *Answer) []byte {
	for _, item := range a.Items {
		dst = e.appendItem(dst, t, item)
	}
	return e.appendResult(dst, t, a)
}

// writeRecord writes the pending lines of the record. An error fails the output, because every
// printed answer must be recorded. No more lines are recorded after an error, because the last one
// may be incomplete.
func (o *outbox) writeRecord() error {
	o.mu.Lock()
	lines := o.records
	o.records = nil
	o.mu.Unlock()
	if _, failed := errors.AsType[*hook.Error](o.out.Err()); failed || len(lines) == 0 {
		return nil // the record has failed: errors of the output have another type
	}
	if _, err := o.record.Write(lines); err != nil {
		return RecordFailed(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.records == nil && cap(lines) <= roomSize {
		o.records = lines[:0]
	}
	return nil
}
