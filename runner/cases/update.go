package cases

import (
	"cmp"
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

// Update writes the returned answers into the file, for the cases whose status is [Updated]. It
// changes nothing else, and replaces the file atomically. If the file has changed since it was
// read, or is a record in use, Update returns an error, does not change the file, and sets these
// cases to [Failed].
func (f *FileResult) Update() error {
	if f.Count[Updated] == 0 {
		return nil
	}
	text := f.text
	for _, r := range slices.Backward(f.Differing) { // backward, so that earlier offsets stay valid
		if r.Status == Updated {
			text = slices.Concat(text[:r.start], r.updated(text[r.start:r.end]), text[r.end:])
		}
	}
	err := f.rewrite(text)
	if err == nil {
		return nil
	}
	for _, r := range f.Differing {
		r.Status = Failed
	}
	f.Count[Failed], f.Count[Updated] = len(f.Differing), 0
	return hook.NewError(hook.Failed, fmt.Errorf("--update: %s was not updated: %w", f.Path, err))
}

// rewrite replaces the text of the file. It locks a record meanwhile, because a run that appends to
// the record would lose its answers. On Windows it does not, because Windows cannot replace an open
// file.
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

// updatable reports whether the line has an answer, and the case would pass if the returned answer
// replaced it.
func (r *Result) updatable() bool {
	e := r.Failure.got.err
	switch {
	case e != nil && (e.Kind != hook.Failed && e.Kind != hook.Request || e.Reason == "no-hook"), r.Failure.answer < len(r.Failure.Differences):
		return false
	case e != nil && r.fails == nil:
		return r.hasAnswer && r.contains == nil && r.match == nil // "contains" and "match" require a result
	}
	return r.fails != nil || r.hasAnswer
}

// updated returns the line with the returned answer.
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
	_ = l.Parse(line) // the line was parsed before without an error
	return l.WithAnswer(key, value, lines.Binary(got.values()))
}

// updatedError returns an error for the file, in the form of the error that it replaces: a text, a
// whole error, or an object with the same keys. If the line has no error, the keys are kind, type
// and message.
func (r *Result) updatedError(e *hook.Error) []byte {
	w := r.fails
	if w != nil && w.text != "" {
		return schema.Quote(cmp.Or(typeOf(e), messageOf(e)))
	}
	if w != nil && w.whole {
		text, _ := hook.Marshal(e) // cannot fail
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
	text, _ := hook.Marshal(shape) // cannot fail
	return text
}
