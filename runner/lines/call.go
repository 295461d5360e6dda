package lines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/pyplug/pyplug/runner/hook"
)

// keepSize is how large a buffer may be that is kept for the next answer.
const keepSize = 1 << 20

// job makes calls, one at a time. There are as many as [Options].Jobs.
type job struct {
	*Engine
	ctx  context.Context // of all calls
	call context.Context // of the one that goes on
	task *task           // which it is
	buf  []byte          // in which a line of its answer is written
}

// work makes the calls of the tasks that it is handed.
func (j *job) work() {
	emit := j.emit // made once
	for {
		select {
		case j.task = <-j.tasks:
			j.running.Add(1)
			if text := j.perform(emit); text != nil {
				j.answer(j.task, text)
			} else {
				j.out.finish(j.task, nil)
			}
			j.running.Add(-1)
			j.task = nil // and its line
			if cap(j.buf) > keepSize {
				j.buf = nil
			}
		case <-j.closed:
			return
		}
	}
}

// perform makes one call, and returns the last line of its answer; nil when no
// more calls are made.
func (j *job) perform(emit func(hook.Item) error) []byte {
	j.call = j.ctx
	if j.o.Timeout > 0 {
		var cancel context.CancelFunc
		j.call, cancel = context.WithTimeout(j.ctx, j.o.Timeout)
		defer cancel()
	}
	r, err := j.caller.Call(j.call, hook.Call{Hook: j.task.hook, Args: hook.Args{JSON: j.task.args}, Emit: emit})
	if err != nil && j.gaveUp(err) {
		j.refused.Store(true)
		return nil
	}
	j.buf = appendID(j.buf[:0], j.task)
	switch {
	case err != nil:
		j.failed.Add(1)
		j.buf = j.appendError(j.buf, err)
	case r.Streamed && len(r.Value) == 0:
		j.buf = append(j.buf, `"done":true}`+"\n"...)
	default:
		j.buf = appendValue(j.buf, "result", r.Item)
	}
	return j.buf
}

// gaveUp tells whether a call was not made since none is any more.
func (e *Engine) gaveUp(err error) bool {
	select {
	case <-e.o.GaveUp:
	default:
		return false
	}
	told := (*hook.Error)(nil)
	return errors.As(err, &told) && !told.Begun
}

// emit writes an item of the call that goes on.
func (j *job) emit(item hook.Item) error {
	j.buf = appendValue(appendID(j.buf[:0], j.task), "item", item)
	return j.out.put(j.call, j.task, j.buf)
}

// refuse answers a line that cannot be read.
func (e *Engine) refuse(t *task, err error) {
	e.failed.Add(1)
	buf := strconv.AppendInt([]byte(`{"line":`), int64(t.line), 10)
	if t.id != nil {
		buf = append(append(buf, `,"id":`...), t.id...)
	}
	buf = e.appendError(append(buf, ','), &hook.Error{Kind: hook.Request, Hook: t.hook, Err: err})
	e.answer(t, buf)
}

// answer writes all that is left of an answer. It counts first: who has read an
// answer finds it counted.
func (e *Engine) answer(t *task, text []byte) {
	e.answered.Add(1)
	for line := int64(t.line); ; {
		last := e.last.Load()
		if last >= line || e.last.CompareAndSwap(last, line) {
			break
		}
	}
	e.out.finish(t, text)
}

// appendID begins an answer.
func appendID(dst []byte, t *task) []byte {
	dst = append(dst, `{"id":`...)
	if t.id != nil {
		dst = append(dst, t.id...)
	} else {
		dst = strconv.AppendInt(dst, int64(t.line), 10)
	}
	return append(dst, ',')
}

func (e *Engine) appendError(dst []byte, err error) []byte {
	told := (*hook.Error)(nil)
	if !errors.As(err, &told) { // no Caller should
		told = &hook.Error{Kind: hook.Internal, Err: err}
	}
	dst = append(append(dst, `"error":`...), e.o.Error(told)...)
	return append(dst, "}\n"...)
}

// appendValue ends a line with a value.
func appendValue(dst []byte, key string, item hook.Item) []byte {
	dst = append(append(append(dst, '"'), key...), `":`...)
	value := bytes.TrimSpace(item.Value)
	switch {
	case len(value) == 0:
		dst = append(dst, "null"...)
	case item.Binary && value[0] != '"':
		dst = append(append(append(dst, '"'), value...), '"')
	default:
		dst = appendOneLine(dst, value)
	}
	if item.Binary {
		dst = append(dst, `,"binary":true`...)
	}
	return append(dst, "}\n"...)
}

// appendOneLine appends a JSON value that may have been written on several lines.
func appendOneLine(dst []byte, value []byte) []byte {
	if bytes.IndexByte(value, '\n') < 0 && bytes.IndexByte(value, '\r') < 0 {
		return append(dst, value...)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil { // such as NaN, which was asked for
		return append(dst, bytes.Map(func(r rune) rune {
			if r == '\n' || r == '\r' {
				return ' '
			}
			return r
		}, value)...)
	}
	return append(dst, b.Bytes()...)
}
