package grpcplugin

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
)

// Evidence is what was seen of a plugin while it started.
type Evidence struct {
	// Text is the handshake line as the plugin printed it, Line what it says; Line is
	// empty if it was refused.
	Text string
	Line handshake.Line
	// Noise are the first lines before the handshake, NoiseLines their number. pyplug
	// tolerates them; other hosts refuse the plugin.
	Noise      []Noise
	NoiseLines int
	// Service is the name that the health service was asked for.
	Service string
	// Unhealthy is what the health service answered other than SERVING, if the
	// start tolerated it: that there is none ([ReasonNoHealth]), or anything else
	// by [Config.AnyHealth].
	Unhealthy *hook.Error
	// Handshake, Connect and Health are how long each took, 0 if the start did
	// not come so far.
	Handshake, Connect, Health time.Duration
}

// Oddities are what other hosts would refuse about the plugin.
func (e Evidence) Oddities() []string {
	var notes []string
	switch {
	case e.NoiseLines == 1:
		notes = append(notes, fmt.Sprintf("it printed %v before its handshake, which other hosts refuse", e.Noise[0]))
	case e.NoiseLines > 1:
		notes = append(notes, fmt.Sprintf("it printed %d lines before its handshake, the first %s, which other hosts refuse",
			e.NoiseLines, e.Noise[0]))
	}
	for _, n := range e.Line.Notes {
		if n.Refused {
			notes = append(notes, n.Text+", which other hosts refuse")
		}
	}
	return notes
}

const (
	maxNoiseLines = 10
	maxNoiseText  = 200 // bytes of each
)

// Noise is a line before the handshake.
type Noise struct {
	// Text is the beginning of the line, Bytes the length of the line.
	Text  string
	Bytes int
}

// String quotes the line, or its beginning.
func (n Noise) String() string {
	const most = 60
	switch text := []rune(n.Text); {
	case n.Bytes == 0:
		return "an empty line"
	case n.Bytes > len(n.Text), len(text) > most:
		return fmt.Sprintf("%q… (%d bytes)", string(text[:min(most, len(text))]), n.Bytes)
	}
	return fmt.Sprintf("%q", n.Text)
}

// scanner looks for the handshake in what a process prints. All other lines go to
// the output.
type scanner struct {
	out   *output
	found chan string // has room for the handshake

	mu       sync.Mutex // protects following
	over     bool       // the handshake was found
	noise    []Noise
	lines    int
	onStderr string // a handshake on standard error, where no host looks for it
}

func newScanner(out *output) *scanner { return &scanner{out: out, found: make(chan string, 1)} }

// scan is called for each line and never blocks.
func (s *scanner) scan(line proc.Line) {
	if line.Stream == proc.Stdout {
		if s.isHandshake(line) {
			return
		}
	} else {
		s.scanStderr(line.Text)
	}
	s.out.line(line.Stream.String(), line.Text, line.Cut)
}

// isHandshake reports whether the line is the handshake, and counts it as noise
// otherwise. A line that was cut is longer than any handshake.
func (s *scanner) isHandshake(line proc.Line) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return false
	case line.Cut == 0 && handshake.Looks(line.Text):
		s.over = true
		s.found <- line.Text
		return true
	}
	if s.lines++; s.lines <= maxNoiseLines {
		s.noise = append(s.noise, Noise{
			Text:  strings.ToValidUTF8(line.Text[:min(len(line.Text), maxNoiseText)], "�"),
			Bytes: len(line.Text) + line.Cut,
		})
	}
	return false
}

func (s *scanner) scanStderr(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over && s.onStderr == "" && handshake.Looks(text) {
		s.onStderr = text[:min(len(text), maxNoiseText)]
	}
}

// before returns the first lines before the handshake, and their number.
func (s *scanner) before() ([]Noise, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noise, s.lines
}

// missing is the error of a process that printed no handshake, without its kind.
// limit is 0 if the process exited; unended is a handshake without a newline.
func (s *scanner) missing(cfg *Config, limit time.Duration, unended string, stderr []string) *hook.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := error(&hook.LimitError{What: "no handshake on standard output", Limit: limit})
	if limit == 0 {
		err = errNoHandshake
	}
	switch {
	case s.onStderr != "":
		err = fmt.Errorf("%w, but standard error has %q", err, s.onStderr)
	case unended != "":
		err = fmt.Errorf("%w, only %q without a newline", err, unended)
	case s.lines == 1:
		err = fmt.Errorf("%w, only %v", err, s.noise[0])
	case s.lines > 1:
		err = fmt.Errorf("%w, only %d other lines, the first %v", err, s.lines, s.noise[0])
	}
	e := &hook.Error{Reason: ReasonNoHandshake, Err: err}
	said := strings.Join(stderr, "\n")
	for _, n := range s.noise {
		said += "\n" + n.Text
	}
	said = strings.ToLower(said)
	switch {
	case strings.Contains(said, "cookie"), strings.Contains(said, "not meant to be executed directly"):
		e.Hints = []string{"the plugin wants the magic cookie that its host sets; pass --cookie KEY=VALUE"}
	case s.onStderr != "":
		e.Hints = []string{"print the handshake on standard output, and logs on standard error"}
	case unended != "":
		e.Hints = []string{"end the handshake with a newline"}
	case limit > 0:
		e.Hints = []string{
			"print the handshake as soon as the server listens, and flush it: print(…, flush=True)",
			"--start-timeout sets a longer limit",
		}
	case cfg.CookieKey == "":
		e.Hints = []string{"if the plugin wants the magic cookie of its host, pass --cookie KEY=VALUE"}
		if cfg.Python && len(cfg.Args) > 0 {
			e.Hints = append(e.Hints, "if it is a file of functions, pass --transport pipe")
		}
	}
	return e
}
