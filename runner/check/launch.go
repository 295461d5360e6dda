package check

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// The stages of one start. launch starts the plugin. The others report on parts of that start.

// hostTimeout is how long common hosts wait for a handshake.
const hostTimeout = 3 * time.Second

// watched returns an output function. It records whether the plugin prints a handshake,
// and calls output unless that is nil.
func (c *check) watched(output func(stream, text string, cut int)) func(stream, text string, cut int) {
	return func(stream, text string, cut int) {
		if stream == "stdout" && handshake.LooksGRPC(text) {
			c.handshook.Store(true)
		}
		if output != nil {
			output(stream, text, cut)
		}
	}
}

// launch starts the plugin.
func (c *check) launch(ctx context.Context) hook.Stage {
	if err := c.s.Start(ctx); err != nil {
		c.fault = hook.AsError(err)
		c.faultAt, c.faultID = faultOf(c.fault, c.s)
	}
	seen := c.s.Evidence()
	if c.faultAt == stageLaunch {
		return hook.Stage{Findings: append([]hook.Finding{c.fail(c.faultID, c.fault)}, c.program()...)}
	}
	if !c.s.Transport().Serves {
		return hook.Stage{Message: "started and loaded", Took: c.s.Info().Ready, Findings: c.program()}
	}
	st := hook.Stage{Message: "started", Took: seen.Handshake}
	if seen.NoiseLines > 0 && seen.Text != "" {
		st.Findings = append(st.Findings, noise(seen))
	}
	return st
}

// program returns a warning if the import of a functions file printed a handshake, because the file
// is then a gRPC plugin. The line may arrive after the start, so the stage stop checks again.
func (c *check) program() []hook.Finding {
	reported := c.reported(func(f hook.Finding) bool { return f.ID == handshakeImported })
	if c.s.Transport().Serves || reported || !c.handshook.Load() {
		return nil
	}
	return []hook.Finding{found(handshakeImported, hook.Warning,
		"it was imported as a functions file, and printed the handshake of a gRPC plugin",
		"start it as one: --transport grpc, or transport = \"grpc\" in the manifest")}
}

// noise returns the finding about output before the handshake.
func noise(e grpcplugin.Evidence) hook.Finding {
	what := e.Noise
	if e.NoiseLines > 1 {
		what = fmt.Sprintf("%d lines, the first %s,", e.NoiseLines, e.Noise)
	}
	return hook.Finding{
		ID: stdoutNoise, Verdict: hook.Failure, Kind: hook.Handshake,
		Message: "it prints " + what + " before the handshake, but a host reads only the first line",
		Fix:     []string{"print it to standard error, as logging.basicConfig() and print(…, file=sys.stderr) do, or after the handshake"},
	}
}

// faultOf returns the stage that reports an error of a start, and the name of the finding.
func faultOf(e *hook.Error, s *process) (stage, id string) {
	_, lacks := errors.AsType[*schema.MissingModuleError](e)
	switch line, isLine := errors.AsType[*handshake.Error](e); {
	case s.Instance != nil: // the start succeeded, but a bootstrap call failed
		return stageHooks, callFailed
	case e.Kind == hook.Start && lacks:
		return stageLaunch, importMissing
	case e.Kind == hook.Unhealthy:
		return stageHealth, healthID(e)
	case e.Kind != hook.Handshake:
		return stageLaunch, startFailed
	case e.Reason == grpcplugin.ReasonForeignAddress:
		return stageHandshake, addressNotOwned
	case e.Reason != grpcplugin.ReasonBadHandshake && e.Reason != grpcplugin.ReasonNoHandshake:
		return stageConnect, connectFailed
	case isLine && line.Name == "address":
		return stageHandshake, addressRefused
	case isLine:
		return stageHandshake, handshakeMalformed
	}
	return stageHandshake, handshakeMissing
}

// handshake reports the handshake of a gRPC plugin, or the Python of a functions file.
func (c *check) handshake(context.Context) hook.Stage {
	if !c.s.Transport().Serves {
		python := c.s.Info().Python
		return hook.Stage{Message: "hello from python " + python, Details: map[string]any{"python": python}}
	}
	e := c.s.Evidence()
	st := hook.Stage{Details: map[string]any{"line": e.Text}}
	if e.Line.Network != "" {
		st.Details = map[string]any{
			"line": e.Text, "core_version": e.Line.Core, "app_version": e.Line.App, "network": e.Line.Network, "address": e.Line.Address,
			"protocol": e.Line.Protocol, "certificate": e.Line.Cert != nil, "handshake_ms": hook.Milliseconds(e.Handshake),
		}
	}
	if c.faultAt == stageHandshake {
		st.Findings = append(st.Findings, c.fail(c.faultID, c.fault))
		return st
	}
	st.Message = e.Line.String()
	if e.Line.Cert != nil {
		st.Message = strings.Join(strings.Split(e.Line.String(), "|")[:5], "|") + " with a certificate"
	}
	st.Message += ", " + schema.Span(e.Handshake) + " after the start"
	for _, n := range e.Line.Notes {
		st.Findings = append(st.Findings, odd(n))
	}
	if e.Handshake > hostTimeout {
		st.Findings = append(st.Findings, found(handshakeSlow, hook.Warning,
			fmt.Sprintf("the handshake took %s; many hosts wait only %s", schema.Span(e.Handshake), hostTimeout),
			"print it as soon as the server listens, before slow imports and other work"))
	}
	return st
}

// odd returns the finding about an oddity of the handshake line.
func odd(n handshake.Note) hook.Finding {
	if !n.Refused {
		return found(handshakeOdd, hook.Note, n.Text)
	}
	f := hook.Finding{ID: handshakeMalformed, Verdict: hook.Failure, Kind: hook.Handshake, Message: n.Text + ", which hosts refuse"}
	if n.Field == 6 { // the certificate
		f.Fix = []string{`print the certificate in base64 without padding: .rstrip("=")`}
	}
	return f
}

// connect reports whether a connection was made.
func (c *check) connect(context.Context) hook.Stage {
	e := c.s.Evidence()
	st := hook.Stage{Message: "connected to " + strings.TrimPrefix(e.Line.Network+":"+e.Line.Address, "tcp:"), Took: e.Connect}
	if c.faultAt == stageConnect {
		st.Findings = append(st.Findings, c.fail(c.faultID, c.fault))
	}
	if e.Exposed {
		st.Findings = append(st.Findings, found(addressExposed, hook.Warning,
			"it listens on all interfaces: anyone who can reach this machine can call it",
			"listen on loopback alone: server.add_insecure_port(\"127.0.0.1:0\")"))
	}
	return st
}
