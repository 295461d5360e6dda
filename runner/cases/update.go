package cases

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// Updatable returns an error unless the file at a path can be replaced.
func Updatable(path string) error {
	info, err := os.Stat(path)
	if path == "-" || err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return hook.NewError(hook.Usage, fmt.Errorf("--update: %w", err))
	}
	return nil
}

// Update replaces the answers in the file that differ from the returned ones. It changes nothing
// else, and replaces the file atomically. A line whose call crashed or timed out keeps its
// answer. If the file is no longer as it was read, or is a record in use, Update returns an error and
// leaves the file alone.
func (f *FileResult) Update() error {
	text := f.text
	changed := false
	for _, r := range slices.Backward(f.Failed) { // backward, so that earlier offsets stay valid
		if !r.updatable() {
			continue
		}
		text = slices.Concat(text[:r.start], r.updated(text[r.start:r.end]), text[r.end:])
		changed = true
	}
	if !changed {
		return nil
	}
	if err := f.rewrite(text); err != nil {
		return hook.NewError(hook.Failed, fmt.Errorf("--update: %s was not updated: %w", f.Path, err))
	}
	return nil
}

// rewrite replaces the text of the file. A record stays locked meanwhile, because a run that appends to it
// would lose its answers; Windows replaces no file that is open.
func (f *File) rewrite(text []byte) error {
	if f.isRecord && runtime.GOOS != "windows" {
		file, err := os.OpenFile(f.Path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := lock(file); err != nil {
			return err
		}
	}
	err := bounded.Rewrite(f.Path, f.text, text)
	if errors.Is(err, bounded.ErrChanged) {
		e := hook.NewError(hook.Failed, errors.New("it has changed since it was read"))
		e.Hints = schema.Hints("run the command again")
		return e
	}
	return err
}

// updatable reports whether the line has an answer, and another one was returned.
func (r *Result) updatable() bool {
	got := r.Failure.got
	switch {
	case got.err != nil && got.err.Kind != hook.Failed && got.err.Kind != hook.Request:
		return false
	case r.fails != nil:
		return r.fails.check(got) != nil
	}
	return r.hasAnswer && (got.err != nil || r.wants.compare(got) != nil)
}

// updated returns a line with the answer that was returned.
func (r *Result) updated(line []byte) []byte {
	got := r.Failure.got
	key, value := "result", got.json()
	switch {
	case got.err != nil:
		key, value = "error", r.updatedError(got.err)
	case got.Streamed:
		key = "items"
	}
	var l lines.Line
	_ = l.Parse(line) // it was read without an error
	return l.WithAnswer(key, value, lines.Binary(got.values()))
}

// updatedError returns an error for the file, with the keys of the error that it replaces. If that
// one is whole, it has all keys.
func (r *Result) updatedError(e *hook.Error) []byte {
	w := r.fails
	if w != nil && w.whole {
		text, _ := hook.Marshal(e) // our own shape
		return text
	}
	shape := wantedError{Kind: e.Kind, Type: typeOf(e)}
	if w == nil {
		shape.Message = e.Error()
	} else {
		if text := messageOf(e); w.match != nil && w.match.MatchString(text) {
			shape.Match = w.Match
		} else if w.match != nil {
			shape.Match = regexp.QuoteMeta(text)
		}
		if w.Kind == "" {
			shape.Kind = ""
		}
		if w.Type == "" {
			shape.Type = ""
		}
	}
	text, _ := hook.Marshal(shape) // our own shape
	return text
}
