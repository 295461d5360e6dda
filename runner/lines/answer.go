package lines

import (
	"context"
	"strconv"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
)

// quick is the average duration up to which calls count as quick. After a series of quick calls,
// the next series is larger.
const quick = 2 * time.Millisecond

// work makes calls until there are no more. [Options].Jobs goroutines run it. Series
// grow while all their calls are made and are quick.
func (e *Engine) work(ctx context.Context) {
	for size := 1; ; {
		tasks := e.out.take(size)
		began, made := time.Now(), 1
		switch len(tasks) {
		case 0:
			return
		case 1:
			e.call(ctx, tasks[0])
		default:
			tasks, made = e.callSeries(ctx, tasks)
		}
		e.out.release(tasks, made)
		switch {
		case time.Since(began) > time.Duration(made)*quick:
			size = 1
		case made == len(tasks):
			size = min(2*made, e.o.Series)
		default:
			size = max(1, made)
		}
	}
}

// call makes one call and answers the line. If the line could not be parsed, it answers with that
// error.
func (e *Engine) call(ctx context.Context, t *task) {
	if t.bad != nil {
		t.bad.Hook = t.Hook
		e.fail(ctx, t, t.bad)
		return
	}
	callCtx, cancel := hook.WithLimit(ctx, e.o.Timeout)
	defer cancel()
	emit := func(item hook.Item) error { return e.emit(callCtx, t, item) }
	r, err := e.caller.Call(callCtx, hook.Call{Hook: t.Hook, Args: t.Arguments(e.o.Field, e.o.Words), Emit: emit})
	if err != nil {
		e.failed(ctx, t, hook.AsError(err))
		return
	}
	e.succeeded(ctx, t, r)
}

// callSeries makes calls one after the other and answers their lines. It takes more tasks while the
// series runs, if it began with as many as a series may have. It returns the tasks that it held
// last, and how many of them were called.
func (e *Engine) callSeries(ctx context.Context, tasks []*task) (last []*task, made int) {
	s := &hook.Series{Calls: e.callsOf(tasks), Limit: e.o.Timeout, FailFast: e.o.FailFast}
	s.Emit = func(ctx context.Context, item hook.Item) error { return e.emit(ctx, tasks[made], item) }
	s.Answered = func(r hook.Result, err *hook.Error) {
		t := tasks[made]
		made++
		if err != nil {
			e.failed(ctx, t, err)
		} else {
			e.succeeded(ctx, t, r)
		}
	}
	s.Wanted = func(bool) bool { return hook.IsClosed(e.out.dropping) } // calls that have not begun are then dropped
	s.HandedBack = func(n int) { tasks = e.out.handBack(tasks, n) }
	if len(tasks) == e.o.Series {
		s.More = func(n int) []hook.Call {
			more, left := e.out.takeMore(tasks, made, n), len(tasks)-made
			if more == nil {
				return nil
			}
			tasks, made = more, 0
			return e.callsOf(tasks[left:])
		}
	}
	e.series.CallSeries(ctx, s)
	return tasks, made
}

// callsOf returns the calls of tasks.
func (e *Engine) callsOf(tasks []*task) []hook.Call {
	calls := make([]hook.Call, len(tasks))
	for i, t := range tasks {
		calls[i] = hook.Call{Hook: t.Hook, Args: t.Arguments(e.o.Field, e.o.Words)}
	}
	return calls
}

// emit writes an item of a stream.
func (e *Engine) emit(ctx context.Context, t *task, item hook.Item) error {
	t.begun = true
	e.keepItem(t, item)
	return e.out.put(ctx, t, func(dst []byte) []byte { return e.appendItem(dst, t, item) })
}

// succeeded answers a line with the result of its hook.
func (e *Engine) succeeded(ctx context.Context, t *task, r hook.Result) {
	t.made++
	a := &Answer{Item: r.Item, Streamed: r.Streamed, Attempts: t.made}
	e.finish(ctx, t, a, func(dst []byte) []byte { return e.appendResult(dst, t, a) })
}

// appendResult appends the last line of an answer without an error.
func (e *Engine) appendResult(dst []byte, t *task, a *Answer) []byte {
	switch {
	case e.o.Raw != nil && a.Streamed:
		return dst
	case e.o.Raw != nil:
		return e.o.Raw(dst, a.Item)
	}
	return a.append(appendID(dst, t), false)
}

// failed answers a line with the error of its call, or arranges to make the call again.
func (e *Engine) failed(ctx context.Context, t *task, err *hook.Error) {
	t.made++
	if delay, again := e.o.Retries.Delay(t.made, err); again && !t.begun && !e.isGivenUp() {
		if held := e.out.hold(t); held != nil {
			go e.retry(ctx, held, delay, err) // ends after the delay, or when no more calls are made
			return
		}
	}
	e.failedLast(ctx, t, err)
}

// failedLast answers a line with the error of its call, which is not made again. If the caller gave
// up before it began the call, the line gets no answer.
func (e *Engine) failedLast(ctx context.Context, t *task, err *hook.Error) {
	if e.isGivenUp() && !err.Begun {
		e.out.finish(ctx, t, nil)
		return
	}
	e.fail(ctx, t, err)
}

// isGivenUp reports whether the caller gave up.
func (e *Engine) isGivenUp() bool { return hook.IsClosed(e.o.GaveUp) }

// fail answers a line with an error.
func (e *Engine) fail(ctx context.Context, t *task, err *hook.Error) {
	t.failed = true
	text := e.o.Error(t.line, withLineHint(e.o.Hook, t.Call, err))
	a := &Answer{Error: text, Attempts: t.made}
	e.finish(ctx, t, a, func(dst []byte) []byte {
		if e.o.Raw != nil {
			return dst
		}
		return a.append(appendID(dst, t), false)
	})
	if e.o.FailFast {
		e.out.close(nil, true)
	}
}

// appendID appends the beginning of an answer: the line's id, or its number if it has no id.
func appendID(dst []byte, t *task) []byte {
	dst = append(dst, `{"id":`...)
	if t.ID != nil {
		dst = append(dst, t.ID...)
	} else {
		dst = strconv.AppendInt(dst, int64(t.line), 10)
	}
	return append(dst, ',')
}

// appendItem appends the line of an item.
func (e *Engine) appendItem(dst []byte, t *task, item hook.Item) []byte {
	if e.o.Raw != nil {
		return e.o.Raw(dst, item)
	}
	return append(wire.AppendValue(appendID(dst, t), "item", item), "}\n"...)
}
