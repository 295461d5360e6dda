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
)

// followEvery is how often a followed log is read.
const followEvery = 200 * time.Millisecond

// ReadLog passes the last lines of a name's log to emit, the oldest first: at most last
// of them, or all if last is negative. If follow is set, it continues with new lines,
// also after the log turns over or a new daemon of that name starts, until ctx ends,
// which is no error.
//
// Errors are emit's, or [*hook.Error] of kind Unavailable: with reason [NotRunning] if
// there is no log, or of what the system returned.
func ReadLog(ctx context.Context, name string, last int, follow bool, emit func(Line) error) error {
	t, err := findLog(name)
	if err != nil {
		return err
	}
	defer func() { _ = t.file.Close() }()
	if err := t.tail(last, emit); err != nil || !follow {
		return err
	}
	again := time.NewTicker(followEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
		if err := t.catchUp(emit); err != nil {
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
		f, failed := os.Open(p.log())
		if failed == nil {
			return &tailer{place: p, file: f}, nil
		}
		if !errors.Is(failed, fs.ErrNotExist) && err == nil {
			err = unavailable(failed)
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
		return nil
	}
	if before := t.older(t.file); before != nil { // otherwise it has just turned over
		if err := before.finish(keep); err != nil {
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

// catchUp emits new lines, and switches to the file that has replaced this one.
func (t *tailer) catchUp(emit func(Line) error) error {
	next, err := os.Open(t.place.log())
	if err != nil || sameFile(t.file, next) {
		_ = next.Close()
		return t.rest(emit)
	}
	between := t.older(t.file, next)
	err = t.finish(emit) // nothing more is written to this file
	t.file = next
	if between != nil && err == nil {
		if err = emit(Line{Time: time.Now(), Stream: Own, Text: missed}); err == nil {
			err = between.finish(emit)
		}
	}
	if err != nil {
		return err
	}
	return t.rest(emit)
}

// older opens the older log. It returns nil if there is none, or if that is one of
// these files.
func (t *tailer) older(files ...*os.File) *tailer {
	f, err := os.Open(t.place.log() + older)
	if err != nil {
		return nil
	}
	for _, other := range files {
		if sameFile(f, other) {
			_ = f.Close()
			return nil
		}
	}
	return &tailer{file: f}
}

func sameFile(a, b *os.File) bool {
	one, err := a.Stat()
	other, err2 := b.Stat()
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// finish emits the rest of a file that is not written any more, and closes it.
func (t *tailer) finish(emit func(Line) error) error {
	defer func() { _ = t.file.Close() }()
	if err := t.rest(emit); err != nil {
		return err
	}
	return t.end(emit)
}

// rest emits the whole lines up to the end of the file.
func (t *tailer) rest(emit func(Line) error) error {
	for r := bufio.NewReader(t.file); ; {
		part, err := r.ReadBytes('\n')
		t.partial = append(t.partial, part...)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return unavailable(err)
		}
		if err := t.end(emit); err != nil {
			return err
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
