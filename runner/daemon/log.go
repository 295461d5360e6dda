package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// logLimit is the size at which a log is rotated.
	logLimit = 10 << 20
	// logTime is the format of a time in a log: RFC 3339 in UTC, of constant length.
	logTime = "2006-01-02T15:04:05.000000Z"
)

// older lists the suffixes of the previous logs, the newest first.
var older = []string{".1", ".2"}

// Own is the stream of lines that pyplug itself writes to a log.
const Own = "pyplug"

// Line is one line of a log.
type Line struct {
	// Time is zero, and Stream empty, for a line that the Go runtime wrote.
	Time time.Time
	// Generation is the generation of the plugin's process, or 0 if unknown.
	Generation int
	// Stream is "stdout" or "stderr" for the plugin's output, or [Own].
	Stream, Text string
}

// Log is a daemon's log: NAME.log. When it exceeds 10 MB, it becomes NAME.log.1, and then
// NAME.log.2. It outlives the daemon. It is safe for concurrent use. If the disk is full, lines are
// lost.
type Log struct {
	path     string
	echo     func(text string) // receives pyplug's own lines, or nil
	redirect bool              // standard output and error go to the log, too
	max      int64

	mu     sync.Mutex
	file   *os.File // nil if the file could not be opened, or was closed
	size   int64
	closed bool
}

// openLog opens a log to append to it. With redirect, standard output and error go
// there, too, such as the trace of a panic. echo receives pyplug's own lines. It may be nil.
func openLog(path string, redirect bool, echo func(text string)) (*Log, error) {
	l := &Log{path: path, echo: echo, redirect: redirect, max: logLimit}
	return l, l.open()
}

// open opens the file. The caller holds mu.
func (l *Log) open() error {
	f, err := openFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && l.redirect {
		err = redirect(f)
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write adds whole lines from pyplug itself. It never fails.
func (l *Log) Write(lines []byte) (int, error) {
	l.note(string(lines))
	return len(lines), nil
}

func (l *Log) note(text string) { l.Add(Line{Stream: Own, Text: text}) }

// Add adds a line. A zero Time means now. A Text with several lines becomes several lines.
func (l *Log) Add(line Line) {
	if line.Time.IsZero() {
		line.Time = time.Now()
	}
	at := line.Time.UTC().Format(logTime)
	var b []byte
	for text := range strings.SplitSeq(strings.TrimSuffix(line.Text, "\n"), "\n") {
		b = fmt.Appendf(b, "%s %d %s %s\n", at, line.Generation, line.Stream, text)
		if l.echo != nil && line.Stream == Own {
			l.echo(text)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if l.size > 0 && l.size+int64(len(b)) > l.max {
		l.turn()
	}
	if l.file != nil || l.open() == nil {
		n, _ := l.file.Write(b) // if the disk is full, lines are lost
		l.size += int64(n)
	}
}

// turn rotates the log. The next line opens a new file. The caller holds mu.
func (l *Log) turn() {
	_ = os.Rename(l.path+older[0], l.path+older[1])                 // the file may not exist
	if l.file != nil && os.Rename(l.path, l.path+older[0]) == nil { // otherwise the file keeps growing, and the next line tries again
		_ = l.file.Close()
		l.file = nil
	}
}

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.file.Close() // Close fails if the file is nil
}

// endMark begins the last line of a run that was stopped.
const endMark = "ended: "

// Run describes how the last run of a name ended.
type Run struct {
	At      time.Time // the time of the last line of its log
	Reason  string    // why it was stopped
	Crashed bool      // it ended without a stop
}

// LastRun reads from the log of a name how its last run ended. ok is false if there is no log. The
// result is valid only while no plugin runs under the name.
func LastRun(name string) (run Run, ok bool) {
	const tail = 64 << 10
	path, _ := logPath(name)
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return run, false
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return run, false
	}
	_, _ = f.Seek(max(0, info.Size()-tail), io.SeekStart)
	text, err := io.ReadAll(f)
	if err != nil {
		return run, false
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	line := readLine(text[bytes.LastIndexByte(text, '\n')+1:])
	reason, stopped := strings.CutPrefix(line.Text, endMark)
	if line.Time.IsZero() { // the Go runtime wrote the line
		line.Time = info.ModTime()
	}
	stopped = stopped && line.Stream == Own
	if !stopped {
		reason = ""
	}
	return Run{At: line.Time, Reason: reason, Crashed: !stopped}, true
}

// readLine reads one line of a log, without its end.
func readLine(text []byte) Line {
	parts := bytes.SplitN(text, []byte(" "), 4)
	if len(parts) == 4 {
		at, err := time.Parse(logTime, string(parts[0]))
		generation, err2 := strconv.Atoi(string(parts[1]))
		if err == nil && err2 == nil {
			return Line{Time: at, Generation: generation, Stream: string(parts[2]), Text: string(parts[3])}
		}
	}
	return Line{Text: string(text)}
}

// followEvery is the interval at which a followed log is read.
const followEvery = 200 * time.Millisecond

// Want says which lines [ReadLog] reads.
type Want struct {
	// Last is the maximum number of existing lines to read. A negative number means all lines.
	Last int
	// Since is the time of the oldest line. Zero means all lines. A line without a time belongs to
	// the line before it.
	Since time.Time
	// Follow continues with new lines until the context ends, which is not an error. It also
	// follows a rotated log and a new daemon of that name.
	Follow bool
}

// ReadLog passes the wanted lines of a name's log to emit, the oldest first.
//
// It returns the error of emit, or a [*hook.Error] of kind Unavailable: with reason [NotRunning] if
// the log does not exist, or with an error of the system.
func ReadLog(ctx context.Context, name string, want Want, emit func(Line) error) error {
	t, err := findLog(name)
	if err != nil {
		return err
	}
	defer t.close()
	var lines []Line
	late := want.Since.IsZero()
	if err := t.catchUp(func(l Line) error {
		if late = late || !l.Time.Before(want.Since); late {
			lines = append(lines, l)
		}
		return nil
	}); err != nil {
		return err
	}
	if want.Last >= 0 && len(lines) > want.Last {
		lines = lines[len(lines)-want.Last:]
	}
	for _, l := range lines {
		if err := emit(l); err != nil {
			return err
		}
	}
	for want.Follow && !hook.Within(ctx.Done(), followEvery) {
		if err := t.catchUp(emit); err != nil {
			return err
		}
	}
	return nil
}

// tailer reads a log, the older part first, and then the files that replace it.
type tailer struct {
	path string
	file *os.File // the log that was read last, or nil before the first
}

// findLog finds the log of a name: the log of its current or last daemon.
func findLog(name string) (*tailer, error) {
	path, err := logPath(name)
	switch {
	case path != "":
		return &tailer{path: path}, nil
	case err == nil:
		err = NotRunningError(name)
	}
	return nil, err
}

// logPath returns the path of the log of a name, or "" if there is none. It then returns the error
// of a directory or a log that it could not examine, or nil.
func logPath(name string) (string, error) {
	there, err := search(name)
	var paths []string
	for _, p := range there {
		if id, err := p.readState(); err == nil && id.Log != "" {
			paths = append(paths, string(id.Log))
		}
	}
	for _, dir := range logDirs() {
		paths = append(paths, place{dir, name}.log())
	}
	for _, path := range paths {
		_, failed := os.Stat(path)
		if failed == nil {
			return path, nil
		}
		if !errors.Is(failed, fs.ErrNotExist) && err == nil {
			err = unavailable(failed)
		}
	}
	return "", err
}

// catchUp emits the lines since the last call. The first call emits all lines.
func (t *tailer) catchUp(emit func(Line) error) error {
	if t.file == nil {
		for _, suffix := range slices.Backward(older) {
			if err := t.follow(t.path+suffix, emit); err != nil {
				return err
			}
		}
	}
	return t.follow(t.path, emit)
}

// follow emits the rest of the file that was read last. If path is another file, it also emits all
// of that. It ignores a path without a file, because the log is just being rotated.
func (t *tailer) follow(path string, emit func(Line) error) error {
	next, err := openFile(path, os.O_RDONLY)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unavailable(err)
	}
	replaced := err == nil && !sameFile(next, t.file)
	if err := t.rest(emit, replaced); err != nil || !replaced {
		_ = next.Close() // Close fails if the file is nil
		return err
	}
	t.close()
	t.file = next
	return t.rest(emit, false)
}

// sameFile reports whether two open files are the same file. It returns false if one is nil.
func sameFile(a, b *os.File) bool {
	one, err := a.Stat()
	other, err2 := b.Stat()
	return err == nil && err2 == nil && os.SameFile(one, other)
}

func (t *tailer) close() { _ = t.file.Close() } // Close fails if the file is nil

// rest emits the lines up to the end of the file, if it is open. It leaves a last line without a
// line end to the next call, unless the file is complete.
func (t *tailer) rest(emit func(Line) error, complete bool) error {
	if t.file == nil {
		return nil
	}
	text, err := io.ReadAll(t.file)
	end := len(text)
	if err == nil && !complete {
		end = bytes.LastIndexByte(text, '\n') + 1
		_, err = t.file.Seek(int64(end-len(text)), io.SeekCurrent)
	}
	if err != nil {
		return unavailable(err)
	}
	for line := range bytes.Lines(text[:end]) {
		if err := emit(readLine(bytes.TrimSuffix(line, []byte("\n")))); err != nil {
			return err
		}
	}
	return nil
}
