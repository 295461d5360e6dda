package daemon

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// followEvery is how often a followed log is read.
	followEvery = 200 * time.Millisecond
	// longestLine is the length at which a line of a log is split.
	longestLine = 1 << 20
)

// ReadLog passes the last lines of a name's log to emit, the oldest first: at most last
// of them, or all if last is negative. If follow is set, it continues with new lines,
// also after the log turns over or a new daemon of that name starts, until ctx ends,
// which is no error.
//
// Errors are emit's, or [*hook.Error] of kind Unavailable: with a
// [*NotRunningError] where there is no log, or what reading it said.
func ReadLog(ctx context.Context, name string, last int, follow bool, emit func(Line) error) error {
	c, err := findLog(name)
	if err != nil {
		return err
	}
	defer func() { _ = c.file.Close() }()
	if err := c.tail(last, emit); err != nil {
		return err
	}
	if !follow {
		return nil
	}
	again := time.NewTicker(followEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
		if err := c.catchUp(emit); err != nil {
			return err
		}
	}
}

// tailer reads one log, and the log that replaces it.
type tailer struct {
	place   place
	file    *os.File
	partial []byte // the beginning of a line whose end is not written yet
}

func findLog(name string) (*tailer, error) {
	there, err := search(name)
	for _, p := range there {
		f, openErr := openFile(p.log(), os.O_RDONLY)
		if openErr == nil {
			return &tailer{place: p, file: f}, nil
		}
		if !errors.Is(openErr, fs.ErrNotExist) && err == nil {
			err = unavailable(openErr)
		}
	}
	if err == nil {
		err = NotRunningError(name)
	}
	return nil, err
}

// tail emits the last lines of the older and the newer log.
func (t *tailer) tail(last int, emit func(Line) error) error {
	var lines []Line
	keep := func(l Line) error {
		lines = append(lines, l)
		if last >= 0 && len(lines) > 2*last+1024 {
			lines = append(lines[:0], lines[len(lines)-last:]...)
		}
		return nil
	}
	if before, err := openFile(t.place.log()+older, os.O_RDONLY); err == nil {
		if !same(before, t.file) { // otherwise it has just turned over
			err = whole(before, keep)
		}
		_ = before.Close()
		if err != nil {
			return err
		}
	}
	if err := t.rest(keep); err != nil {
		return err
	}
	if last >= 0 && len(lines) > last {
		lines = lines[len(lines)-last:]
	}
	for _, l := range lines {
		if err := emit(l); err != nil {
			return err
		}
	}
	return nil
}

// missed is the line in place of lines that may be missing.
const missed = "the log turned over faster than it was read; lines may be missing here"

// same reports whether two open files are the same file.
func same(a, b *os.File) bool {
	one, err1 := a.Stat()
	other, err2 := b.Stat()
	return err1 == nil && err2 == nil && os.SameFile(one, other)
}

// whole emits all lines of a file.
func whole(f *os.File, emit func(Line) error) error {
	t := &tailer{file: f}
	if err := t.rest(emit); err != nil {
		return err
	}
	return t.end(emit)
}

// catchUp emits new lines, and switches to the file that has replaced this one. The older
// log is then this file, or a file that came in between.
func (t *tailer) catchUp(emit func(Line) error) error {
	next, err := openFile(t.place.log(), os.O_RDONLY)
	if err != nil { // it is being replaced, or the daemon is gone
		return t.rest(emit)
	}
	// If this file was replaced, nothing more is written to it.
	if err := t.rest(emit); err != nil {
		_ = next.Close()
		return err
	}
	if same(t.file, next) {
		return next.Close()
	}
	before, err := openFile(t.place.log()+older, os.O_RDONLY)
	if err == nil {
		defer func() { _ = before.Close() }()
		if same(before, next) { // it is just turning over
			return next.Close()
		}
	}
	if err := t.end(emit); err != nil {
		_ = next.Close()
		return err
	}
	between := before != nil && !same(before, t.file)
	_ = t.file.Close()
	t.file = next
	if between {
		if err := emit(Line{Time: time.Now(), Stream: Own, Text: missed}); err != nil {
			return err
		}
		if err := whole(before, emit); err != nil {
			return err
		}
	}
	return t.rest(emit)
}

// rest emits the whole lines up to the end of the file.
func (t *tailer) rest(emit func(Line) error) error {
	r := bufio.NewReaderSize(t.file, 64<<10)
	for {
		part, err := r.ReadSlice('\n')
		t.partial = append(t.partial, part...)
		switch {
		case err == nil:
			if err := t.end(emit); err != nil {
				return err
			}
		case errors.Is(err, bufio.ErrBufferFull):
			if len(t.partial) >= longestLine {
				if err := t.end(emit); err != nil {
					return err
				}
			}
		case errors.Is(err, io.EOF):
			return nil
		default:
			return &hook.Error{Kind: hook.Unavailable, Err: err}
		}
	}
}

// end emits the line read so far.
func (t *tailer) end(emit func(Line) error) error {
	if len(t.partial) == 0 {
		return nil
	}
	line := readLine(bytes.TrimSuffix(t.partial, []byte("\n")))
	t.partial = t.partial[:0]
	return emit(line)
}
