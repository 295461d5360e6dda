package ui

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
)

// Streams are the standard streams of one run. Make one with [System] or [Test]. Its
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
	// Getenv, Getwd and Now are the system's if nil.
	Getenv func(string) string
	Getwd  func() (string, error)
	Now    func() time.Time

	outColor, errColor bool

	outMu  sync.Mutex // held while a value is written to Out
	screen screen
	waits  waits
	// shortened is closed by ShortenWaits.
	shortened chan struct{}
	shorten   sync.Once
}

// System returns the process's own streams, coloured by the environment.
func System() *Streams {
	s := &Streams{
		shortened: make(chan struct{}),

		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr),
	}
	s.colorBy("auto")
	return s
}

// Test returns streams over memory: no terminals, no colour, no environment. Err is
// complete once the method that wrote to it, or [Output.Close], has returned.
func Test(in string) (s *Streams, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	s = &Streams{
		shortened: make(chan struct{}),

		In: strings.NewReader(in), Out: out, Err: err,
		Getenv: func(string) string { return "" },
		Getwd:  func() (string, error) { return "", errors.New("no directory") },
	}
	return s, out, err
}

func isTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd())
}

func (s *Streams) getenv(name string) string {
	if s.Getenv == nil {
		return os.Getenv(name)
	}
	return s.Getenv(name)
}

func (s *Streams) getwd() (string, error) {
	if s.Getwd == nil {
		return os.Getwd()
	}
	return s.Getwd()
}

func (s *Streams) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// Warn prints a warning on standard error. Like everything printed there, it waits at
// most a second for a reader that takes nothing.
func (s *Streams) Warn(text string) { s.say("warning", Yellow, text) }

// Note prints a note on standard error.
func (s *Streams) Note(text string) { s.say("note", Cyan, text) }

func (s *Streams) say(level string, c Color, text string) {
	switch {
	case s.Quiet:
	case s.LogJSON:
		s.logLine(level, text, nil)
	default:
		s.print(s.PaintErr(c, level+":") + " " + s.escapeText(text, "  ") + "\n")
	}
}

// print writes whole lines to standard error.
func (s *Streams) print(lines string) {
	s.screen.add(s.Err, lines)
	s.screen.flush(writeTimeout)
}

// ShortenWaits says that the program is about to end. From now on nothing waits
// longer than a tenth of a second for a reader that takes nothing, or a second for a
// slow one, and a plugin's output that would have to wait is dropped. It ends waits in
// progress, too, and may be called more than once.
func (s *Streams) ShortenWaits() {
	s.shorten.Do(func() {
		close(s.shortened)
		s.screen.shorten()
	})
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
