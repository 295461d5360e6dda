package grpcplugin

import (
	"errors"
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
	// Noise is the first line before the handshake, quoted and perhaps shortened,
	// NoiseLines the number of such lines. pyplug tolerates them; other hosts refuse
	// the plugin.
	Noise      string
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
		notes = append(notes, fmt.Sprintf("it printed %s before its handshake, which other hosts refuse", e.Noise))
	case e.NoiseLines > 1:
		notes = append(notes, fmt.Sprintf("it printed %d lines before its handshake, the first %s, which other hosts refuse",
			e.NoiseLines, e.Noise))
	}
	for _, n := range e.Line.Notes {
		if n.Refused {
			notes = append(notes, n.Text+", which other hosts refuse")
		}
	}
	return notes
}

// scanner looks for the handshake in what a process prints. All other lines go to
// the output.
type scanner struct {
	out   *output
	found chan string // has room for the handshake

	mu          sync.Mutex // protects following
	over        bool       // the handshake was found
	noise       string     // the first line before it, quoted
	lines       int        // how many lines before it
	onStderr    string     // a handshake on standard error, where no host looks for it
	wantsCookie bool       // a line is about the magic cookie
	claims      []claim    // in the order of the lines, the first few
}

func newScanner(out *output) *scanner { return &scanner{out: out, found: make(chan string, 1)} }

// scan is called for each line and never blocks.
func (s *scanner) scan(line proc.Line) {
	if !s.isHandshake(line) {
		s.out.line(line.Stream.String(), line.Text, line.Cut)
	}
}

// isHandshake reports whether the line is the handshake, and remembers what a line
// before it says. A line that was cut is longer than any handshake.
func (s *scanner) isHandshake(line proc.Line) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	looks := line.Cut == 0 && handshake.Looks(line.Text)
	text := strings.ToLower(line.Text)
	s.wantsCookie = s.wantsCookie || strings.Contains(text, "cookie") || strings.Contains(text, "not meant to be executed directly")
	if c, claims := claimOf(line, line.Stream == proc.Stdout && s.lines == 0); claims && !looks && len(s.claims) < mostClaims {
		s.claims = append(s.claims, c)
	}
	switch {
	case line.Stream == proc.Stderr:
		if looks && s.onStderr == "" {
			s.onStderr = shortened(line)
		}
	case looks:
		s.over = true
		s.found <- line.Text
		return true
	default:
		if s.lines++; s.lines == 1 {
			s.noise = shortened(line)
		}
	}
	return false
}

// shortened quotes a line, or its beginning.
func shortened(line proc.Line) string {
	const most = 60
	switch text := []rune(strings.ToValidUTF8(line.Text, "�")); {
	case len(text) == 0:
		return "an empty line"
	case len(text) > most:
		return fmt.Sprintf("%q… (%d bytes)", string(text[:most]), len(line.Text)+line.Cut)
	}
	return fmt.Sprintf("%q", line.Text)
}

// before returns the first line before the handshake, and the number of such lines.
func (s *scanner) before() (string, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noise, s.lines
}

// missing is the error of a process that printed no handshake, without its kind.
// limit is 0 if the process exited, else the process was killed after it.
func (s *scanner) missing(cfg *Config, limit time.Duration) *hook.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := error(&hook.LimitError{What: "no handshake on standard output", Limit: limit})
	if limit == 0 {
		err = errors.New("the plugin exited before it printed a handshake")
	}
	unended := "" // a handshake that ended when the process was killed
	select {
	case unended = <-s.found:
	default:
	}
	var hints []string
	switch {
	case s.onStderr != "":
		err = fmt.Errorf("%w, but standard error has %s", err, s.onStderr)
		hints = []string{"print the handshake on standard output, and logs on standard error"}
	case unended != "":
		err = fmt.Errorf("%w, only %q without a newline", err, unended)
		hints = []string{"end the handshake with a newline"}
	case s.lines == 1:
		err = fmt.Errorf("%w, only %s", err, s.noise)
	case s.lines > 1:
		err = fmt.Errorf("%w, only %d other lines, the first %s", err, s.lines, s.noise)
	}
	switch {
	case s.wantsCookie:
		hints = []string{"the plugin wants the magic cookie that its host sets; pass --cookie KEY=VALUE"}
	case len(hints) > 0:
	case limit > 0:
		hints = []string{
			"print the handshake as soon as the server listens, and flush it: print(…, flush=True)",
			"allow more time with --start-timeout",
		}
	case cfg.CookieKey == "":
		hints = []string{"if the plugin wants the magic cookie of its host, pass --cookie KEY=VALUE"}
		switch isProgram := cfg.Python && len(cfg.Args) > 0; {
		case isProgram && !strings.HasSuffix(cfg.Args[0], ".pyz"):
			hints = append(hints, "if it is a file of functions, pass --transport pipe")
		case cfg.Python && !isProgram:
			hints = append(hints, "if it is a file of functions, give it a name, or a link, that ends in .py")
		}
	}
	return &hook.Error{Reason: ReasonNoHandshake, Hints: hints, Err: err}
}
