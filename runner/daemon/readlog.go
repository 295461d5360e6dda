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
	defer t.close()
	var lines []Line
	if err := t.catchUp(func(l Line) error { lines = append(lines, l); return nil }); err != nil {
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
	again := time.NewTicker(followEvery)
	defer again.Stop()
	for follow {
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
		if err := t.catchUp(emit); err != nil {
			return err
		}
	}
	return nil
}

// tailer reads a log, the older part first, and then what replaces it.
type tailer struct {
	place place
	file  *os.File // the log that was read last; nil before the first
}

// findLog finds the log of a name.
func findLog(name string) (*tailer, error) {
	there, err := search(name)
	for _, p := range there {
		p = p.home()
		_, failed := os.Stat(p.log())
		if failed == nil {
			return &tailer{place: p}, nil
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

// missed is the line in place of lines that may be missing.
const missed = "the log was rotated faster than it was read; lines may be missing here"

// catchUp emits the lines since the last call; first all.
func (t *tailer) catchUp(emit func(Line) error) error {
	newer, err := t.newer()
	for i, next := range newer { // so nothing more is written to the file before
		if t.file != nil && err == nil {
			err = t.rest(emit, true)
			if i == 0 && len(newer) > 1 && err == nil {
				err = emit(Line{Time: time.Now(), Stream: Own, Text: missed})
			}
		}
		t.close()
		t.file = next
	}
	if t.file == nil || err != nil {
		return err
	}
	return t.rest(emit, false)
}

// newer opens the logs that replaced the one that was read last, the oldest first.
func (t *tailer) newer() (logs []*os.File, err error) {
	known := t.file
	for _, path := range []string{t.place.log(), t.place.log() + older} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return logs, unavailable(err)
		}
		if sameFile(f, t.file) || sameFile(f, known) { // the latter if the log has just turned over
			_ = f.Close()
			break
		}
		known = f
		logs = append([]*os.File{f}, logs...)
	}
	return logs, nil
}

// sameFile reports whether two descriptors are of one file. A nil one is of none.
func sameFile(a, b *os.File) bool {
	one, err := a.Stat()
	other, err2 := b.Stat()
	return err == nil && err2 == nil && os.SameFile(one, other)
}

func (t *tailer) close() { _ = t.file.Close() } // which fails if it is nil

// rest emits the lines up to the end of the file. The last one may have no end yet: then
// it is read again, unless the file is complete.
func (t *tailer) rest(emit func(Line) error, complete bool) error {
	for r := bufio.NewReader(t.file); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if err = nil; !complete {
				_, err = t.file.Seek(-int64(len(line)), io.SeekCurrent)
				line = nil
			}
		}
		switch {
		case err != nil:
			return unavailable(err)
		case len(line) == 0:
			return nil
		}
		if err := emit(readLine(bytes.TrimSuffix(line, []byte("\n")))); err != nil {
			return err
		}
	}
}
