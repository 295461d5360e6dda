package ui

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

// Streams are the standard streams of one run. Create one with [System]. Its fields are set before
// the first use and never changed after that. Its methods are safe for concurrent use. It must not
// be copied.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// OutTTY and ErrTTY report whether these streams are terminals.
	OutTTY, ErrTTY bool
	// Quiet silences warnings, notes and waits.
	Quiet bool
	// Verbose prints messages of [Streams.Log] at the level "info".
	Verbose bool
	// LogJSON writes everything on standard error as JSON lines.
	LogJSON bool
	// Getenv, Getwd and Now come from the system, or from a test.
	Getenv func(string) string
	Getwd  func() (string, error)
	Now    func() time.Time

	outColor bool

	outMu  sync.Mutex // held while a value is written to Out
	screen screen

	waiting sync.Mutex // held by the wait that is shown
}

// System returns the process's own streams, with colors according to the environment.
func System() *Streams {
	s := &Streams{
		Getenv: os.Getenv, Getwd: os.Getwd, Now: time.Now,
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr),
	}
	s.SetColor("auto")
	return s
}

func isTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

// Piped reports whether standard input is a pipe or a regular file.
func (s *Streams) Piped() bool {
	in, ok := s.In.(*os.File)
	if !ok {
		return false
	}
	info, err := in.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// InTerminal reports whether standard input is a terminal.
func (s *Streams) InTerminal() bool {
	in, ok := s.In.(*os.File)
	return ok && isTerminal(in)
}

// columns returns the current width of a terminal in cells, or 80 if the width is unknown.
func columns(terminal io.Writer) int {
	switch w := terminal.(type) {
	case interface{ columns() int }: // a terminal of a test
		return w.columns()
	case *os.File:
		if n, _, err := term.GetSize(int(w.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// width returns the number of cells that a line of text may have on a stream, or 0 for no limit.
// Only a terminal has a limit, because programs read whole lines.
func width(stream io.Writer, isTerminal bool) int {
	if !isTerminal {
		return 0
	}
	return columns(stream) - 1 // some terminals wrap at the last column
}

// cwd returns the working directory, or "" if unknown.
func (s *Streams) cwd() string {
	dir, err := s.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// Warn prints a warning on standard error. Like all output there, it waits at most a second for a
// reader that reads nothing.
func (s *Streams) Warn(text string) { s.say(Yellow, "warning", text) }

// Note prints a note on standard error.
func (s *Streams) Note(text string) { s.say(Cyan, "note", text) }

// Notes prints a note for each text.
func (s *Streams) Notes(texts []string) {
	for _, text := range texts {
		s.Note(text)
	}
}

// Hints prints a hint for each text.
func (s *Streams) Hints(texts []string) {
	for _, text := range texts {
		s.say(Cyan, "hint", text)
	}
}

// Aside prints a dim line on standard error if that is a terminal. It is information for people,
// not for programs.
func (s *Streams) Aside(text string) {
	if s.ErrTTY && !s.Quiet && !s.LogJSON {
		s.print(Paint(Dim, text) + "\n")
	}
}

// say prints a text. pairs of key and value are for the log in JSON.
func (s *Streams) say(c Color, level, text string, pairs ...any) {
	switch {
	case s.Quiet:
	case s.LogJSON:
		s.print(s.logJSON(level, text, pairs...))
	default:
		s.print(s.headed(c, level, text))
	}
}

// headed returns a text, which may have several lines, after its level, such as "warning", for
// standard error.
func (s *Streams) headed(c Color, level, text string) string {
	return Paint(c, level+":") + " " + folded(text, "  ", len(level+": "), width(s.Err, s.ErrTTY)) + "\n"
}

// print writes whole lines to standard error, for people or as JSON.
func (s *Streams) print(lines string) {
	s.screen.add(s.Err, lines)
	s.screen.flush(s.Err, writeTimeout)
}

// Print prints whole lines for people on standard output.
func (s *Streams) Print(text string) error { return s.writeOut([]byte(shown(s.outColor, text))) }

// writeOut writes the parts of whole lines to standard output. It does not copy large parts.
func (s *Streams) writeOut(parts ...[]byte) error {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	if s.OutTTY && s.ErrTTY { // one terminal, which may show a wait
		s.screen.setStatusLine(s.Err, "")
		s.screen.flush(s.Err, writeTimeout)
	}
	w := bufio.NewWriter(s.Out)
	for _, part := range parts {
		_, _ = w.Write(part)
	}
	return w.Flush() // returns an earlier error, too
}

// EndLine ends the line of a terminal that has shown ^C.
func (s *Streams) EndLine() {
	if s.ErrTTY {
		s.print("\n")
	}
}

// IsClosedPipe reports whether a write failed because the reader has gone away.
func IsClosedPipe(err error) bool {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return true
	}
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // the numbers on Windows
	return runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}

// writeJSON prints the fields of pyplug's own types as a line on standard output, after "schema":
// 1.
func (s *Streams) writeJSON(shapes ...any) error {
	return s.writeOut(withSchema(shapes...), []byte("\n"))
}

// withSchema joins the fields of pyplug's own types after "schema": 1.
func withSchema(shapes ...any) []byte {
	return joinJSON(append([]any{map[string]int{"schema": 1}}, shapes...)...)
}

// joinJSON writes the fields of several objects as one object. None of them may be empty.
func joinJSON(objects ...any) json.RawMessage {
	joined := []byte{'{'}
	for _, object := range objects {
		fields := compactJSON(object)
		joined = append(append(joined, fields[1:len(fields)-1]...), ',')
	}
	joined[len(joined)-1] = '}'
	return joined
}

// compactJSON returns a value of pyplug's own types as JSON on one line, harmless for terminals and
// CI systems. It does not escape <, > and &. It panics if the value cannot be encoded.
func compactJSON(shape any) json.RawMessage {
	text, err := hook.Marshal(shape)
	if err != nil {
		panic("a shape of ours is not JSON: " + err.Error())
	}
	return visibleJSON(text)
}

// Log prints a line of pyplug's own log on standard error. It drops the level "info" unless
// Verbose is set. Pairs of key and value follow the message. A value is a number, bool,
// duration, error, JSON, or anything that fmt prints as text.
//
// A text line is "pyplug | 12:04:05.123 message key=value". A JSON line is {"time", "level",
// "message", key: value…}. Durations in it are milliseconds, and their keys end in "_ms".
func (s *Streams) Log(level, message string, pairs ...any) {
	switch {
	case level == "info" && !s.Verbose:
		return
	case s.LogJSON:
		s.print(s.logJSON(level, message, pairs...))
		return
	}
	label := "pyplug | " + s.Now().Format("15:04:05.000") + " "
	if level != "info" {
		label += level + ": "
	}
	for i := 1; i < len(pairs); i += 2 {
		message += fmt.Sprintf(" %v=%s", pairs[i-1], logText(pairs[i]))
	}
	s.print(label + folded(message, "  ", 0, 0) + "\n")
}

// logText returns a value for a text line. It quotes a value whose end would not be clear.
func logText(value any) string {
	text := fmt.Sprint(value)
	if d, ok := value.(time.Duration); ok {
		text = schema.Span(d)
	}
	if text == "" || strings.ContainsAny(text, " \t\n\"=") {
		return strconv.Quote(text)
	}
	return text
}

// logJSON returns a line of the log as JSON.
func (s *Streams) logJSON(level, message string, pairs ...any) string {
	line := fmt.Sprintf(`{"time":%q,"level":%q,"message":%s`, s.Now().Format(wire.Time), level, compactJSON(message))
	for i := 1; i < len(pairs); i += 2 {
		key, value := fmt.Sprint(pairs[i-1]), pairs[i]
		switch v := value.(type) {
		case time.Duration:
			key, value = key+"_ms", hook.Milliseconds(v)
		case error, fmt.Stringer:
			value = fmt.Sprint(v)
		}
		line += "," + string(compactJSON(key)) + ":" + string(compactJSON(value))
	}
	return line + "}\n"
}
