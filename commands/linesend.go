package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// failures contains the errors of failed lines that the last message needs.
type failures struct {
	mu        sync.Mutex
	line      int         // the first failed line
	first     *hook.Error // the error of that line
	unretried schema.Hint // why a call was not made again
}

// add records the error of a line.
func (f *failures) add(line int, err *hook.Error, retry *retryOptions) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first == nil || line < f.line {
		f.line, f.first = line, err
	}
	if f.unretried.IsZero() {
		f.unretried = retry.hint(err)
	}
}

// warnFailed prints how many lines failed, and the first of them with its error.
func (prog *program) warnFailed(o *linesOptions, c lines.Counts) {
	text := fmt.Sprintf("%d of %s failed", c.Failed, schema.Plural(c.Answered, "line"))
	var hints []schema.Hint
	if first := o.failed.first; first != nil {
		why, _, _ := strings.Cut(first.Error(), "\n")
		text += fmt.Sprintf("; first: line %d: %s", o.failed.line, schema.Short(why))
		hints = first.Hints
	}
	prog.streams.Warn(text)
	if o.raw { // the hints of each error have been shown
		hints = nil
	}
	if !o.failed.unretried.IsZero() {
		hints = append(hints, o.failed.unretried)
	}
	prog.streams.Hints(hook.Words(hints))
}

// linesEnd returns the error of the command: the error of the output, a signal, the plugin or the
// input, or else an error if calls failed.
func (prog *program) linesEnd(ctx context.Context, k hook.Plugin, o *linesOptions, c lines.Counts, err error) error {
	prog.streams.Log("info", "answered", "lines", c.Answered, "failed", c.Failed)
	unread := (*hook.Error)(nil)
	switch {
	case errors.As(err, &unread) && unread.Reason == hook.OutputFailed: // an error of the record
		return unread
	case err != nil && unread == nil && !errors.Is(err, lines.ErrNotRead) && !errors.Is(err, lines.ErrGaveUp):
		return outputError(err)
	case ctx.Err() != nil:
		prog.streams.EndLine()
		if err == nil || unread != nil { // otherwise lines before the last one may have no answer
			prog.noteLast(o, context.Cause(ctx).Error(), c.Last)
		}
		return &printedError{code: exitCode(context.Cause(ctx))}
	case errors.Is(err, lines.ErrGaveUp):
		prog.streams.Note(fmt.Sprintf("the plugin accepts no more calls; the last answered line is %d", c.Last))
		_, err := k.Hooks(ctx, schema.Query{}) // returns the reason
		if err == nil {
			err = hook.NewError(hook.Unavailable, errors.New("gave up"))
		}
		return err
	case unread != nil:
		return unread
	case err != nil:
		return outputError(err)
	case c.Failed > 0 && !o.noFail:
		prog.warnFailed(o, c)
		return &printedError{code: exitCode(&hook.Error{Kind: hook.Failed})}
	}
	return nil
}

// noteLast prints why the command ended, and which lines are answered. Unless the plugin gave up,
// all lines before the last answered line are answered, even with --unordered.
func (prog *program) noteLast(o *linesOptions, why string, last int64) {
	answered := "no line is answered"
	if last > 0 {
		answered = fmt.Sprintf("lines 1 to %d are answered", last)
	}
	next := "use --record FILE to go on from there next time"
	if o.record != nil {
		next = "the same command goes on from there"
	}
	prog.streams.Note(why + "; " + answered + "; " + next)
}
