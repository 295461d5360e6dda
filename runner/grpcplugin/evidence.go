package grpcplugin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// Evidence records what a plugin did while it started.
type Evidence struct {
	// Text is the handshake line as the plugin printed it. Line is the parsed line;
	// it is empty if pyplug rejected it.
	Text string
	Line handshake.Line
	// Noise is the first line before the handshake, quoted and perhaps shortened.
	// NoiseLines is the number of lines before it. pyplug tolerates them; other hosts
	// refuse the plugin.
	Noise      string
	NoiseLines int
	// Service is the name in the request to the health service.
	Service string
	// Unhealthy is the error of the health check if the start tolerated it, because
	// the plugin has no health service, or by [Config.AnyHealth]. It is nil if the
	// plugin is healthy.
	Unhealthy *hook.Error
	// Handshake, Connect and Health are the durations of the three steps; a step that
	// was not reached is 0.
	Handshake, Connect, Health time.Duration
}

// scanner finds the handshake in what a process prints. It passes all other lines to the
// output.
type scanner struct {
	out   *output
	found chan string // has room for the handshake

	mu   sync.Mutex // protects following
	over bool       // the handshake is found
	said
}

// said is what the lines around a handshake say.
type said struct {
	noise       string   // the first line before the handshake, quoted
	lines       int      // the number of lines before it
	onStderr    string   // a handshake on standard error, which no host reads
	wantsCookie bool     // a line mentions the magic cookie
	ports       []string // the first few that lines name, where the plugin may serve
}

func newScanner(out *output) *scanner { return &scanner{out: out, found: make(chan string, 1)} }

// scan is called for each line and never blocks.
func (s *scanner) scan(line proc.Line) {
	if !s.isHandshake(line) {
		s.out.line(string(line.Stream), line.Text, line.Cut)
	}
}

// isHandshake reports whether the line is the handshake. It records what earlier lines
// say. A line that was cut is longer than any handshake.
func (s *scanner) isHandshake(line proc.Line) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	looks := line.Cut == 0 && handshake.Looks(line.Text)
	text := strings.ToLower(line.Text)
	s.wantsCookie = s.wantsCookie || strings.Contains(text, "cookie") || strings.Contains(text, "not meant to be executed directly")
	if port := namedPort(line.Text, line.Stream == proc.Stdout && s.lines == 0); port != "" && len(s.ports) < mostPorts {
		s.ports = append(s.ports, port)
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

// heard returns what the lines have said so far.
func (s *scanner) heard() said {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said
}

// shortened quotes a line, or the beginning of a long one.
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

// missing returns the error of a process that printed no handshake, without its kind. limit
// is the timeout after which pyplug killed the process, or 0 if the process exited.
func (s *scanner) missing(cfg *Config, limit time.Duration) *hook.Error {
	cookie, said := cfg.ShownCookie(), s.heard()
	err := error(&hook.LimitError{What: "no handshake on standard output", Limit: limit})
	if limit == 0 {
		err = errors.New("the plugin exited before it printed a handshake")
	}
	unended := "" // a handshake without a newline, complete when the process was killed
	select {
	case unended = <-s.found:
	default:
	}
	var hints []schema.Hint
	switch {
	case said.onStderr != "":
		err = fmt.Errorf("%w, but standard error has %s", err, said.onStderr)
		hints = schema.Hints("print the handshake on standard output, and logs on standard error")
	case unended != "":
		err = fmt.Errorf("%w, only %q without a newline", err, unended)
		hints = schema.Hints("end the handshake with a newline")
	case said.lines == 1:
		err = fmt.Errorf("%w, only %s", err, said.noise)
	case said.lines > 1:
		err = fmt.Errorf("%w, only %d other lines, the first %s", err, said.lines, said.noise)
	}
	switch {
	case cookie != "" && (said.wantsCookie || len(hints) == 0 && limit == 0):
		hints = schema.Hints("set the magic cookie that the plugin's source names: %s %s", schema.Setting("cookie"), schema.QuoteLine([]string{cookie}))
	case said.wantsCookie:
		hints = schema.Hints("the plugin wants the magic cookie that its host sets; pass %s KEY=VALUE", schema.Setting("cookie"))
	case len(hints) > 0:
	case limit > 0:
		hints = []schema.Hint{
			schema.Hintf("print the handshake as soon as the server listens, and flush it: print(…, flush=True)"),
			schema.Hintf("allow more time with %s", schema.Setting("start-timeout")),
		}
	case cfg.CookieKey == "":
		hints = schema.Hints("if the plugin wants the magic cookie of its host, pass %s KEY=VALUE", schema.Setting("cookie"))
	}
	return &hook.Error{Reason: ReasonNoHandshake, Hints: hints, Err: err}
}

// Programs for other hosts print no handshake: they print only their port, or log their address.
const (
	// ownPortEvery is how often pyplug looks at such ports, and at least how long a handshake may follow.
	ownPortEvery = time.Second
	mostPorts    = 8
)

var ownPortHints = []schema.Hint{
	schema.Hintf("it serves at an address of its own, as plugins of Pulumi and CloudQuery do: hosts of go-plugin cannot start it, and neither can pyplug"),
	schema.Hintf("start it yourself, and %s calls it", schema.Command{"call", "--address", "HOST:PORT", "HOOK"}),
}

var (
	// addressWords and addressPort match the words and the port of a line that logs an address.
	addressWords = lazyRegexp(`(?i)\b(?:listen|serv|start|runn)`)
	addressPort  = lazyRegexp(`(?:\blocalhost|\b\d+(?:\.\d+){3}|\[[0-9a-fA-F:]*\]|\s):([1-9]\d{1,4})\b`)
)

// namedPort returns the port at which a line may say that the plugin serves, or "". first reports
// whether the line is the first of standard output, which may have nothing else.
func namedPort(line string, first bool) string {
	if _, err := strconv.ParseUint(line, 10, 16); first && err == nil {
		return line
	}
	if m := addressPort().FindStringSubmatch(line); m != nil && addressWords().MatchString(line) {
		return m[1]
	}
	return ""
}

// ownPort returns an error if the plugin's process serves gRPC at one of the ports.
func (l *launch) ownPort(ports []string) *hook.Error {
	ctx, cancel := context.WithTimeout(l.ctx, ownPortEvery)
	defer cancel()
	for _, port := range ports {
		t := &target{network: "tcp", address: net.JoinHostPort("localhost", port), limit: ownPortEvery, leader: l.proc.PID()}
		cc, err := grpc.NewClient("passthrough:///"+t.address, t.options(l.cfg)...)
		if err != nil {
			continue
		}
		notReady := t.ready(ctx, cc)
		_ = cc.Close()
		if notReady == nil {
			return &hook.Error{Kind: hook.Handshake, Reason: ReasonNoHandshake, Hints: ownPortHints,
				Err: fmt.Errorf("no handshake on standard output, and gRPC is served at port %s, which the plugin printed", port)}
		}
	}
	return nil
}
