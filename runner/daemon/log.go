package daemon

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// logLimit is the length at which a log turns over.
	logLimit = 5 << 20
	// older is the suffix of the previous log.
	older = ".1"
	// logTime is the format of a time in a log: RFC 3339 in UTC, of constant length.
	logTime = "2006-01-02T15:04:05.000000Z"
)

// Own is the stream of what pyplug itself writes to a log.
const Own = "pyplug"

// Line is one line of a log.
type Line struct {
	// Time is zero, and Stream empty, for a line that the Go runtime wrote.
	Time time.Time
	// Generation is that of the plugin's process, 0 if unknown.
	Generation int
	// Stream is "stdout" or "stderr" for what the plugin printed, or [Own].
	Stream, Text string
}

// Log is a daemon's log: NAME.log, which becomes NAME.log.1 when it exceeds 5 MB. It is
// safe for concurrent use. A full disk loses lines; the next line that can be written
// says how many.
type Log struct {
	path     string
	redirect bool // standard output and error go to the log, too

	mu   sync.Mutex
	file *os.File // nil if it could not be opened, or was closed
	size int64
	torn bool // the last line has no end
	lost int
	done bool
	max  int64
}

// openLog opens a log to append to it. With redirect, standard output and error go
// there, too, such as the trace of a panic.
func openLog(path string, redirect bool) (*Log, error) {
	l := &Log{path: path, redirect: redirect, max: logLimit}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

// open opens the file. Held: mu.
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

// Write adds whole lines of pyplug's own. It never fails.
func (l *Log) Write(lines []byte) (int, error) {
	l.Add(Line{Stream: Own, Text: string(lines)})
	return len(lines), nil
}

// Add adds a line. A zero Time means now. A Text of several lines becomes several lines.
func (l *Log) Add(line Line) {
	if line.Time.IsZero() {
		line.Time = time.Now()
	}
	var b []byte
	for text := range strings.SplitSeq(strings.TrimSuffix(line.Text, "\n"), "\n") {
		b = line.Time.UTC().AppendFormat(b, logTime)
		b = strconv.AppendInt(append(b, ' '), int64(line.Generation), 10)
		b = append(append(append(append(append(b, ' '), line.Stream...), ' '), text...), '\n')
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return
	}
	if l.size > 0 && l.size+int64(len(b)) > l.max {
		l.turn()
	}
	if l.lost > 0 {
		b = append(fmt.Appendf(nil, "%s 0 %s %d lines could not be written\n",
			line.Time.UTC().Format(logTime), Own, l.lost), b...)
	}
	if l.torn {
		b = append([]byte{'\n'}, b...)
	}
	l.put(b)
}

// put writes whole lines. Held: mu.
func (l *Log) put(b []byte) {
	if l.file == nil && l.open() != nil {
		l.lost++
		return
	}
	n, err := l.file.Write(b)
	l.size += int64(n)
	if n > 0 {
		l.torn = b[n-1] != '\n'
	}
	if err != nil {
		l.lost++
		return
	}
	l.lost = 0
}

// turn makes the file the older one and opens a new one. Held: mu.
func (l *Log) turn() {
	if os.Rename(l.path, l.path+older) != nil {
		return // it grows on; the next line tries again
	}
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
	l.torn = false
	_ = l.open() // on failure, the next line tries again
}

func (l *Log) note(text string) { l.Add(Line{Stream: Own, Text: text}) }

// Close closes the file.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
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
