package check

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
)

// The stages of one start. It is made by the first of them; those that follow
// tell what was seen.

// slow is what common hosts wait for a handshake.
const slow = 3 * time.Second

// firstOutput notes when a plugin printed first.
type firstOutput struct {
	mu      sync.Mutex
	started time.Time
	after   time.Duration // 0: nothing was printed
}

// watch is tell, with a look at the clock.
func (o *firstOutput) watch(tell func(stream, text string, cut int)) func(stream, text string, cut int) {
	return func(stream, text string, cut int) {
		o.mu.Lock()
		if o.after == 0 && !o.started.IsZero() {
			o.after = time.Since(o.started)
		}
		o.mu.Unlock()
		if tell != nil {
			tell(stream, text, cut)
		}
	}
}

func (o *firstOutput) start() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.started = time.Now()
}

// first is when something was printed first, the handshake too; 0: never.
func (o *firstOutput) first(handshake time.Duration) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.after == 0 || handshake > 0 && handshake < o.after {
		return handshake
	}
	return o.after
}

// launch starts the plugin.
func (c *check) launch(ctx context.Context) hook.Stage {
	c.output.start()
	if err := c.s.Start(ctx); err != nil {
		c.fault = asError(err)
	}
	c.ready = c.s.Info().Ready
	var evidence grpcplugin.Evidence
	if g := c.s.GRPC(); g != nil {
		evidence = g.Evidence()
	}
	st := hook.Stage{Took: c.ready, Details: details{}}
	if c.s.GRPC() != nil {
		st.Took = c.output.first(evidence.Handshake)
		st.Message = "it started and printed"
		st.Details["first_output_ms"] = millis(st.Took)
	} else if c.s.Info().PID != 0 {
		st.Message = "it started and was loaded"
	}
	if c.fault != nil && faultStage(c.fault, c.s) == stageLaunch {
		st.Findings = c.fail(c.s, startFailed, c.fault)
		st.Took = 0 // as long as it took
		return st
	}
	if evidence.NoiseLines > 0 {
		st.Findings = append(st.Findings, noise(evidence))
	}
	if st.Message == "" {
		st.Message = "it started"
	}
	return st
}

// noise is what stood before the handshake.
func noise(e grpcplugin.Evidence) hook.Finding {
	what := "a line"
	if e.NoiseLines > 1 {
		what = fmt.Sprintf("%d lines", e.NoiseLines)
	}
	first := e.Noise[0]
	text := fmt.Sprintf("%q", first.Text)
	switch {
	case first.Bytes == 0:
		text = "an empty one"
	case first.Bytes > len(first.Text) || len(first.Text) > 60:
		text = fmt.Sprintf("%q… (%d bytes)", first.Text[:min(60, len(first.Text))], first.Bytes)
	}
	if e.NoiseLines > 1 {
		text = "the first " + text
	}
	return hook.Finding{
		ID: stdoutNoise, Verdict: hook.Failure, Kind: hook.Handshake,
		Message: fmt.Sprintf("it prints %s before its handshake, %s: a host reads only the first line", what, text),
		Fix:     []string{"print it on standard error, or after the handshake; logging.basicConfig() and print(…, file=sys.stderr) do"},
	}
}

// faultStage is the stage that tells an error of a start.
func faultStage(e *hook.Error, s *runner.Session) string {
	var (
		line    *handshake.Error
		none    *runner.NoHandshakeError
		owner   *runner.OwnerError
		connect *runner.ConnectError
	)
	switch {
	case s.Running(): // it is ready, and a call of its manifest failed
		return stageHooks
	case e.Kind == hook.Unhealthy:
		return stageHealth
	case e.Kind != hook.Handshake:
		return stageLaunch
	case errors.As(e, &line), errors.As(e, &none), errors.As(e, &owner):
		return stageHandshake
	case errors.As(e, &connect):
		return stageConnect
	}
	return stageConnect // what go-plugin itself says of it
}

// faultID names an error of the handshake.
func faultID(e *hook.Error) string {
	var (
		line  *handshake.Error
		owner *runner.OwnerError
	)
	switch {
	case errors.As(e, &owner):
		return addressNotOwned
	case errors.As(e, &line) && line.Name == "address":
		return addressRefused
	case errors.As(e, &line):
		return handshakeMalformed
	}
	return handshakeMissing
}

// handshake tells what the plugin said of itself.
func (c *check) handshake(context.Context) hook.Stage {
	if c.fault != nil && faultStage(c.fault, c.s) == stageHandshake {
		return hook.Stage{Findings: c.fail(c.s, faultID(c.fault), c.fault)}
	}
	g := c.s.GRPC()
	if g == nil && c.report.Transport == "pipe" {
		return hook.Stage{Message: "hello from python " + c.s.Info().Python, Details: details{"python": c.s.Info().Python}}
	}
	if g == nil { // it did, and what came after went wrong
		return hook.Stage{Message: "a handshake was printed"}
	}
	e := g.Evidence()
	st := hook.Stage{
		Message: e.Line.String() + ", " + shown(e.Handshake) + " after the start",
		Took:    max(e.Handshake-c.output.first(e.Handshake), time.Microsecond),
		Details: details{
			"line": e.Text, "core_version": e.Line.Core, "app_version": e.Line.App, "network": e.Line.Network,
			"address": e.Line.Address, "protocol": e.Line.Protocol, "handshake_ms": millis(e.Handshake),
		},
	}
	if e.Line.Cert != nil {
		st.Message = fmt.Sprintf("%d|%d|%s|%s|%s with a certificate, %s after the start",
			e.Line.Core, e.Line.App, e.Line.Network, e.Line.Address, e.Line.Protocol, shown(e.Handshake))
		st.Details["certificate"] = true
	}
	for _, n := range e.Line.Notes {
		f := found(handshakeOdd, hook.Note, n.Text)
		if n.Refused {
			f = hook.Finding{ID: handshakeMalformed, Verdict: hook.Failure, Kind: hook.Handshake, Message: n.Text + ", which hosts refuse"}
			if n.Field == 6 { // the certificate
				f.Fix = []string{`go-plugin wants base64 without padding: .rstrip("=")`}
			}
		}
		st.Findings = append(st.Findings, f)
	}
	if e.Handshake > slow {
		st.Findings = append(st.Findings, found(handshakeSlow, hook.Warning,
			fmt.Sprintf("the handshake took %s, and common hosts wait for %s", shown(e.Handshake), slow),
			"print it before slow imports and other work, as soon as the server listens"))
	}
	return st
}

// connect tells whether a connection came about.
func (c *check) connect(context.Context) hook.Stage {
	if c.fault != nil && faultStage(c.fault, c.s) == stageConnect {
		findings := c.fail(c.s, connectFailed, c.fault)
		if len(findings) > 0 && len(findings[0].Fix) == 0 {
			findings[0].Fix = []string{"have a gRPC server listen there, in plain unless TLS is asked for, before the handshake is printed"}
		}
		return hook.Stage{Findings: findings}
	}
	st := hook.Stage{Message: "connected"}
	if g := c.s.GRPC(); g != nil {
		e := g.Evidence()
		st.Took, st.Message = e.Connect, "connected to "+strings.TrimPrefix(e.Line.Network+":"+e.Line.Address, "tcp:")
	}
	return st
}

// shown is a duration for people, such as "0.4 ms", "31 ms" or "2.3 s".
func shown(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%.0f ms", millis(d))
	}
	return fmt.Sprintf("%.1f ms", millis(d))
}

// millis is a duration for programs.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
