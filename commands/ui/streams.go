package ui

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"

	"github.com/pyplug/pyplug/runner/hook"
)

// Streams are the standard streams of one run. Make one with [System]. Its
// fields are set before the first use and not changed after it. Its methods are safe
// for concurrent use. It must not be copied.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// OutTTY and ErrTTY report whether these are terminals.
	OutTTY, ErrTTY bool
	// Quiet silences warnings, notes and waits.
	Quiet bool
	// Verbose shows what [Streams.Log] gets at the level "info".
	Verbose bool
	// LogJSON makes all of standard error JSON lines.
	LogJSON bool
	// Getenv, Getwd and Now are the system's, or a test's.
	Getenv func(string) string
	Getwd  func() (string, error)
	Now    func() time.Time

	outColor bool

	outMu  sync.Mutex // held while a value is written to Out
	screen screen

	waiting sync.Mutex // held by the wait that is shown
}

// System returns the process's own streams, coloured by the environment.
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

// Piped reports whether somebody has given standard input something to read: a pipe or a file.
func (s *Streams) Piped() bool {
	in, ok := s.In.(*os.File)
	if !ok {
		return false
	}
	info, err := in.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// columns is how many cells a line of a terminal has now; 80 if it does not report that.
func columns(terminal io.Writer) int {
	switch w := terminal.(type) {
	case interface{ columns() int }: // a test's
		return w.columns()
	case *os.File:
		if n, _, err := term.GetSize(int(w.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// width is how many cells a line of text may have on a stream; 0 is any number. Only a terminal has
// a limit, since programs read whole lines.
func width(stream io.Writer, isTerminal bool) int {
	if !isTerminal {
		return 0
	}
	return columns(stream) - 1 // some terminals wrap at the last column
}

// cwd is the working directory, empty if unknown.
func (s *Streams) cwd() string {
	dir, err := s.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// Warn prints a warning on standard error. Like everything printed there, it waits at
// most a second for a reader that reads nothing.
func (s *Streams) Warn(text string) { s.say(Yellow, "warning", text) }

// Note prints a note on standard error.
func (s *Streams) Note(text string) { s.say(Cyan, "note", text) }

// Aside prints a dim line on standard error if that is a terminal: information for people,
// not for programs.
func (s *Streams) Aside(text string) {
	switch {
	case s.Quiet, !s.ErrTTY:
	case s.LogJSON:
		s.print(s.logJSON("note", text))
	default:
		s.print(Paint(Dim, text) + "\n")
	}
}

// say prints a text. Pairs of key and value are for the log in JSON.
func (s *Streams) say(c Color, level, text string, pairs ...any) {
	switch {
	case s.Quiet:
	case s.LogJSON:
		s.print(s.logJSON(level, text, pairs...))
	default:
		s.print(s.headed(c, level, text))
	}
}

// headed is a text of several lines behind its level, such as "warning", for standard error.
func (s *Streams) headed(c Color, level, text string) string {
	return Paint(c, level+":") + " " + folded(text, "  ", len(level+": "), width(s.Err, s.ErrTTY)) + "\n"
}

// print writes whole lines to standard error, for people or as JSON.
func (s *Streams) print(lines string) {
	s.screen.add(s.Err, lines)
	s.screen.flush(writeTimeout)
}

// Print prints whole lines for people on standard output.
func (s *Streams) Print(text string) error { return s.writeOut([]byte(shown(s.outColor, text))) }

// writeOut writes the parts of whole lines to standard output. It does not copy what
// is large.
func (s *Streams) writeOut(parts ...[]byte) error {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	if s.OutTTY && s.ErrTTY { // one terminal, which may show a wait
		s.screen.setStatusLine(s.Err, "")
		s.screen.flush(writeTimeout)
	}
	w := bufio.NewWriter(s.Out)
	for _, part := range parts {
		_, _ = w.Write(part)
	}
	return w.Flush() // or any error before it
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
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // as Windows has them
	return runtime.GOOS == "windows" && (errors.Is(err, brokenPipe) || errors.Is(err, noData))
}

// writeJSON prints the fields of our shapes as a line on standard output, with
// "schema": 1 before them.
func (s *Streams) writeJSON(shapes ...any) error {
	return s.writeOut(withSchema(shapes...), []byte("\n"))
}

// withSchema joins the fields of our shapes after "schema": 1.
func withSchema(shapes ...any) []byte {
	schema := struct {
		Schema int `json:"schema"`
	}{1}
	return joinJSON(append([]any{schema}, shapes...)...)
}

// joinJSON writes the fields of several objects, none of them empty, as one object.
func joinJSON(objects ...any) json.RawMessage {
	joined := []byte{'{'}
	for _, object := range objects {
		fields := compactJSON(object)
		joined = append(append(joined, fields[1:len(fields)-1]...), ',')
	}
	joined[len(joined)-1] = '}'
	return joined
}

// compactJSON returns one of our shapes as JSON on one line, harmless for terminals and CI
// systems. It does not escape <, > and &. Our shapes never fail to encode.
func compactJSON(shape any) json.RawMessage {
	text, err := hook.Marshal(shape)
	if err != nil {
		panic("a shape of ours is not JSON: " + err.Error())
	}
	return visibleJSON(text)
}
