package grpcplugin

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
)

// Some programs are started like plugins, but print no handshake: they print their port
// alone, or log an address that was chosen for them.
const (
	ownAddressEvery = 250 * time.Millisecond
	// ownAddressGrace is how long after such a line a handshake may follow, and
	// ownAddressLimit how long it may take until the port is open.
	ownAddressGrace = time.Second
	ownAddressLimit = 5 * time.Second
	mostClaims      = 8
)

var ownAddressHints = []string{
	"it serves at an address of its own, as plugins of Pulumi and CloudQuery do: hosts of go-plugin cannot start it, and neither can pyplug",
	"start it yourself, and `pyplug call --address HOST:PORT HOOK` calls it",
}

// loggedAddress has the words of a line that logs an address, and the address.
var loggedAddress = sync.OnceValue(func() (x struct{ words, port *regexp.Regexp }) {
	x.words = regexp.MustCompile(`(?i)\b(?:listen|serv|start|runn)`)
	x.port = regexp.MustCompile(`(?:\blocalhost|\b\d+(?:\.\d+){3}|\[[0-9a-fA-F:]*\]|\s):([1-9]\d{1,4})\b`)
	return x
})

// claim is a line in which the plugin may have named a port that it serves at.
type claim struct {
	text, port string // text is quoted
	at         time.Time
}

// claimOf returns the claim in a line, and whether there is one. first: it is the first
// of standard output.
func claimOf(line proc.Line, first bool) (claim, bool) {
	c := claim{at: time.Now()}
	if port, err := strconv.ParseUint(line.Text, 10, 16); first && err == nil && port > 0 {
		c.text, c.port = "only "+shortened(line), line.Text
	} else if x := loggedAddress(); x.words.MatchString(line.Text) {
		if m := x.port.FindStringSubmatch(line.Text); m != nil {
			c.text, c.port = "but "+shortened(line), m[1]
		}
	}
	return c, c.port != ""
}

// ownAddress returns an error if the plugin has claimed a port, serves gRPC there, and
// has not printed a handshake since.
func (n *launch) ownAddress() *hook.Error {
	for _, c := range n.scanner.dueClaims() {
		if !n.servesAt(c.port) {
			continue
		}
		return &hook.Error{Kind: hook.Handshake, Reason: ReasonNoHandshake, Hints: ownAddressHints,
			Err: fmt.Errorf("no handshake on standard output, %s, and gRPC is served at port %s", c.text, c.port)}
	}
	return nil
}

// servesAt reports whether the plugin's process serves gRPC at a port of this machine.
func (n *launch) servesAt(port string) bool {
	ctx, cancel := context.WithTimeout(n.ctx, ownAddressGrace)
	defer cancel()
	t := &target{network: "tcp", address: net.JoinHostPort("localhost", port), limit: ownAddressGrace, leader: n.proc.PID()}
	cc, err := grpc.NewClient("passthrough:///"+t.address, t.options()...)
	if err != nil {
		return false
	}
	defer cc.Close()
	return t.ready(ctx, cc) == nil
}

// dueClaims returns the claims that are older than the grace, and forgets those that are
// older than the limit.
func (s *scanner) dueClaims() (due []claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.claims) > 0 && time.Since(s.claims[0].at) >= ownAddressLimit {
		s.claims = s.claims[1:]
	}
	for _, c := range s.claims {
		if time.Since(c.at) >= ownAddressGrace {
			due = append(due, c)
		}
	}
	return due
}
