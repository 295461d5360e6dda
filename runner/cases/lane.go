package cases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// lane runs one file after the other, on its own plugin.
type lane struct {
	*running
	plugin hook.Plugin // nil before the first case
	pid    int         // the PID of the plugin's process, or 0 if unknown
	served int         // the number of cases that the process has run, from one or more files
	dirty  bool        // the process crashed or hangs, or a file needs a fresh one
	end    string      // the failure of the last file's process, such as "crashed at line 3 (pid 4711)", or empty
	before string      // the path of the last file
}

// file runs the cases of a file.
func (l *lane) file(number int, file *File) {
	began := time.Now()
	f := &FileResult{File: file, Count: map[Status]int{}}
	after := 0
	f.Note = l.beginFile(file.Path)
	for c := range file.All() {
		r := &Result{Case: c, Status: NotRun, After: after}
		switch {
		case l.isOver():
		case c.Skip != "":
			r.Status = Skipped
		default:
			if l.runCase(r) && l.Isolate != PerCase {
				after = c.Line
			}
		}
		f.Count[r.Status]++
		if r.Failure != nil {
			f.Differing = append(f.Differing, r)
		}
		l.report(number, false, func() { l.Done(r) })
	}
	if l.plugin != nil && !l.isOver() && l.end == "" && l.Isolate != PerCase {
		if err := unhealthy(l.healthy()); err != nil {
			l.end = "is not healthy: " + err.Error()
		}
	}
	f.Took = time.Since(began)
	l.report(number, true, func() { l.Ended(f) })
}

// unhealthy returns the error of a probe, or nil if the plugin does not report its health. Cases of
// such a plugin run, too.
func unhealthy(err error) error {
	e := hook.AsError(err)
	if e == nil || e.Reason == "no-health" || e.Reason == "unknown-service" {
		return nil
	}
	return e
}

// beginFile requests a fresh process for the next case if the file needs one. It returns the Note
// of the [FileResult].
func (l *lane) beginFile(path string) (note string) {
	left, before := l.end, l.before
	l.end, l.before = "", path
	if l.Isolate == PerFile && l.served > 0 || l.Isolate == Lazy && left != "" {
		l.dirty = true
	}
	_, replaceable := l.plugin.(replacer)
	switch {
	case left == "" || l.Isolate == PerCase:
		return ""
	case l.dirty && replaceable:
		return fmt.Sprintf("%s: started a fresh process, because %s left one that %s", path, before, left)
	}
	return fmt.Sprintf("%s: shares its process with %s, which had one that %s", path, before, left)
}

// runCase runs a case until it passes or has no retries left. It reports whether the case crashed
// the process, or made it hang. An error that is not about the case ends the run.
func (l *lane) runCase(r *Result) (died bool) {
	served := 0
	for r.Attempts == 0 || r.Failure != nil && r.Attempts <= l.Retries && (r.Attempts == 1 || !l.isOver()) {
		err := l.fresh()
		if err == nil {
			if r.Attempts++; r.Attempts == 1 {
				served = l.served
			}
			err = l.attempt(r)
		}
		if err != nil {
			r.Failure = nil
			if l.ctx.Err() == nil {
				l.abort(err)
			}
			return died
		}
		died = died || l.dirty
	}
	if r.Failure == nil {
		r.Status = Passed
		return died
	}
	if r.Status = Failed; l.Update && r.updatable() {
		r.Status = Updated
		return died
	}
	if died && served > 0 {
		l.blame(r, served)
	}
	if l.FailFast {
		l.stop()
	}
	return died
}

// replacer is a plugin that can get a fresh process.
type replacer interface {
	Replace(ctx context.Context, reason string) error
}

// fresh starts the plugin, or replaces its process if the next case needs a fresh one.
func (l *lane) fresh() (err error) {
	switch {
	case l.plugin == nil:
		l.plugin, err = l.Start(l.ctx)
	case l.dirty, l.Isolate == PerCase && l.served > 0:
		err = l.replace()
	}
	return err
}

// replace replaces the process if the plugin is a replacer.
func (l *lane) replace() error {
	l.dirty, l.served, l.pid = false, 0, 0
	p, ok := l.plugin.(replacer)
	if !ok {
		return nil
	}
	began := time.Now()
	err := p.Replace(l.ctx, "the next case needs a fresh process")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.summary.Replaced++
	l.summary.Cost += time.Since(began)
	return err
}

// attempt calls the hook of a case once. It returns an error if the call could not be made.
func (l *lane) attempt(r *Result) error {
	got, made := l.call(r)
	if !made {
		// The process has exited since its last answer. Call a fresh one. If the fresh one does not
		// start, its error says why.
		l.end = fmt.Sprintf("exited before line %d (pid %d)", r.Line, l.pid)
		if err := l.replace(); err != nil {
			return err
		}
		if got, made = l.call(r); !made {
			return got.err
		}
	}
	l.served++
	if e := got.err; e != nil && e.Kind == hook.Canceled && l.ctx.Err() != nil {
		return e
	}
	if how := ends[kindOf(got.err)]; how != "" {
		l.dirty = true
		l.end = fmt.Sprintf("%s at line %d (pid %d)", how, r.Line, l.pid)
	}
	r.Failure = r.check(got, r.Took)
	if r.health && !l.dirty {
		if err := l.healthy(); err != nil {
			r.Failure = cmp.Or(r.Failure, &Failure{Err: hook.AsError(err), got: got})
			r.Failure.add(Difference{Message: "not healthy after the call: " + err.Error()})
		}
	}
	return nil
}

// ends maps the kinds of errors that end a process to words for a message. notMade lists the kinds
// of errors that a call may return without having been sent.
var (
	ends    = map[hook.Kind]string{hook.Crash: "crashed", hook.Timeout: "timed out"}
	notMade = map[hook.Kind]bool{
		hook.Crash: true, hook.Unavailable: true, hook.Interpreter: true, hook.Start: true, hook.Handshake: true, hook.Unhealthy: true,
	}
)

func kindOf(e *hook.Error) hook.Kind {
	if e == nil {
		return ""
	}
	return e.Kind
}

// call calls the hook of a case. It returns false if the call was not made.
func (l *lane) call(r *Result) (got answer, made bool) {
	if l.pid == 0 { // a fresh process
		status, _ := l.plugin.Status(l.ctx) // if it fails, the PID stays 0
		l.pid = status.PID
	}
	began := time.Now()
	ctx, cancel := hook.WithLimit(l.ctx, l.Timeout)
	defer cancel()
	size := 0
	emit := func(item hook.Item) error {
		if size += len(item.Value); size > maxItems {
			return fmt.Errorf("the stream has more than %d MiB", maxItems>>20)
		}
		got.Items = append(got.Items, item)
		return nil
	}
	result, err := l.plugin.Call(ctx, hook.Call{Hook: r.Hook(), Args: r.arguments(), Emit: emit})
	got.Item, got.Streamed, got.err = result.Item, result.Streamed, hook.AsError(err)
	r.Took = time.Since(began)
	return got, got.err == nil || got.err.Begun || !notMade[got.err.Kind]
}

// healthy probes the plugin.
func (l *lane) healthy() error {
	ctx, cancel := hook.WithLimit(l.ctx, l.Probe)
	defer cancel()
	return l.plugin.Health(ctx)
}

// blame finds out whether a case that crashed a shared process, or made it hang, also does so
// alone, and sets [Result].Blame. It runs the case once more in a fresh process, unless a retry
// has already done so.
func (l *lane) blame(r *Result, served int) {
	if _, ok := l.plugin.(replacer); !ok || l.isOver() {
		return
	}
	alone := r.Failure
	if r.Attempts == 1 {
		again, end := &Result{Case: r.Case}, l.end
		err := l.replace()
		if err == nil {
			err = l.attempt(again)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			l.abort(err)
			return
		}
		alone, l.end, l.dirty = again.Failure, end, true
	}
	ways := map[hook.Kind]string{hook.Crash: "crashes", hook.Timeout: "hangs"}
	if alone != nil && ways[kindOf(alone.Err)] != "" {
		r.Blame = "also " + ways[kindOf(alone.Err)] + " in its own process"
		return
	}
	r.Blame = cmp.Or(ways[kindOf(r.Failure.Err)], "crashes") + " only after the " + schema.Plural(served, "case") + " before it"
}
