package lines

import (
	"bytes"
	"context"
	"strconv"

	"github.com/pyplug/pyplug/runner/hook"
)

// work makes calls, one at a time, until the reading ends. There are as many
// goroutines that do as [Options].Jobs.
func (e *Engine) work(ctx context.Context) {
	for {
		select {
		case t := <-e.tasks:
			e.call(ctx, t)
		case <-e.closed:
			return
		}
	}
}

// call makes one call and answers its line.
func (e *Engine) call(ctx context.Context, t *task) {
	t.called = true
	e.out.call()
	callCtx := ctx
	if e.o.Timeout > 0 {
		var cancel context.CancelFunc
		callCtx, cancel = context.WithTimeout(ctx, e.o.Timeout)
		defer cancel()
	}
	emit := func(item hook.Item) error {
		return e.out.put(callCtx, t, func(dst []byte) []byte { return appendValue(appendID(dst, t), "item", item) })
	}
	r, err := e.caller.Call(callCtx, hook.Call{Hook: t.hook, Args: hook.Args{JSON: t.args}, Emit: emit})
	switch {
	case err != nil && e.gaveUp(err):
		e.refused.Store(true)
		e.out.finish(ctx, t, nil)
	case err != nil:
		e.fail(ctx, t, hook.AsError(err))
	default:
		e.out.finish(ctx, t, func(dst []byte) []byte {
			dst = appendID(dst, t)
			if r.Streamed && len(r.Value) == 0 {
				return append(dst, `"done":true}`+"\n"...)
			}
			return appendValue(dst, "result", r.Item)
		})
	}
}

// gaveUp reports whether a call was not made because the caller makes none any more.
func (e *Engine) gaveUp(err error) bool {
	select {
	case <-e.o.GaveUp:
		return !hook.AsError(err).Begun
	default:
		return false
	}
}

// fail answers a line with an error.
func (e *Engine) fail(ctx context.Context, t *task, err *hook.Error) {
	t.failed = true
	text := e.o.Error(err)
	e.out.finish(ctx, t, func(dst []byte) []byte {
		if t.called {
			dst = appendID(dst, t)
		} else {
			dst = strconv.AppendInt(append(dst, `{"line":`...), int64(t.line), 10)
			if t.id != nil {
				dst = append(append(dst, `,"id":`...), t.id...)
			}
			dst = append(dst, ',')
		}
		return append(append(append(dst, `"error":`...), text...), "}\n"...)
	})
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

// appendValue ends a line with a value.
func appendValue(dst []byte, key string, item hook.Item) []byte {
	dst = append(append(append(dst, '"'), key...), `":`...)
	value := bytes.TrimSpace(item.Value)
	switch {
	case len(value) == 0:
		dst = append(dst, "null"...)
	case item.Binary && value[0] != '"':
		dst = append(append(append(dst, '"'), value...), '"')
	case bytes.IndexByte(value, '\n') >= 0 || bytes.IndexByte(value, '\r') >= 0: // which JSON has only between values
		dst = append(dst, bytes.Map(func(r rune) rune {
			if r == '\n' || r == '\r' {
				return ' '
			}
			return r
		}, value)...)
	default:
		dst = append(dst, value...)
	}
	if item.Binary {
		dst = append(dst, `,"binary":true`...)
	}
	return append(dst, "}\n"...)
}
