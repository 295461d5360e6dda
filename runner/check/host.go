package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/check/stock"
	"github.com/pyplug/pyplug/runner/hook"
)

// host has a stock host of go-plugin start, ping and stop the plugin.
func (c *check) host(ctx context.Context) hook.Stage {
	if len(c.o.Host) == 0 {
		return hook.Stage{Findings: []hook.Finding{found(hostUnchecked, hook.Note, "there is no stock host to start it with")}}
	}
	p := c.s.Program()
	limit := 3*c.s.Evidence().Handshake + 3*time.Second
	out, err := stock.Run(ctx, stock.Request{
		Host: c.o.Host, Env: c.hostEnviron(), Limit: limit + 3*time.Second, // go-plugin waits 2 s before it kills
		Spec: stock.Spec{
			Command: p.Command, Dir: p.Dir, CookieKey: p.CookieKey, CookieValue: p.CookieValue,
			Versions: p.Versions, MTLS: p.MTLS, StartTimeout: limit,
		},
	})
	if ctx.Err() != nil {
		return hook.Stage{} // do tells
	}
	if err != nil {
		return hook.Stage{Findings: []hook.Finding{found(hostUnchecked, hook.Note, "the stock host could not be run: "+err.Error())}}
	}
	st := hook.Stage{Details: details{}}
	var told []string
	for _, step := range out.Steps {
		st.Details[step.Name+"_ms"] = millis(step.Took)
		if step.Err == "" {
			told = append(told, stepWord[step.Name]+" in "+shown(step.Took))
		}
	}
	st.Message = "a stock host " + joined(told)
	if f := c.hostFinding(out, limit); f != nil {
		if len(out.Log) > 0 {
			st.Details["log"] = out.Log
		}
		st.Findings = append(st.Findings, *f)
	}
	if f := c.killed(out); f != nil && len(st.Findings) == 0 { // else it could not ask
		st.Findings = append(st.Findings, *f)
	}
	if f := c.fixedAddress(out); f != nil {
		st.Findings = append(st.Findings, *f)
	}
	return st
}

var stepWord = map[string]string{"start": "starts it", "connect": "connects", "ping": "pings it", "stop": "stops it"}

// hostEnviron is what a host has for its environment: the caller's, without what
// would make a difference between this host and others. A variable that was set
// for this plugin stays.
func (c *check) hostEnviron() []string {
	const unbuffered = "PYTHONUNBUFFERED"
	ours := func(name string) bool {
		_, inManifest := c.s.Plugin().Manifest.Env[name]
		return inManifest || slices.ContainsFunc(c.o.Config.Env, func(e string) bool {
			n, _, _ := strings.Cut(e, "=")
			return n == name
		})
	}
	return slices.DeleteFunc(slices.Clone(c.s.Environ()), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return name == unbuffered && !ours(name) || slices.Contains(handshake.Variables, name)
	})
}

// hostFinding is what a host's user would complain about; nil when nothing is.
func (c *check) hostFinding(out stock.Outcome, limit time.Duration) *hook.Finding {
	f := hook.Finding{Verdict: hook.Failure, Kind: hook.Unhealthy}
	switch {
	case out.Crashed != "":
		f.ID, f.Message = hostCrashes, "a stock host itself crashes: "+out.Crashed
		f.Fix = []string{"print a certificate as field 6 only when PLUGIN_CLIENT_CERT is set"}
	case out.Hung == "stop":
		f.ID, f.Message = hostHangs, "a stock host never returns from stopping it"
		f.Fix = []string{
			"end what the plugin has started, or give it other outputs: a host reads its pipes until the last process closes them",
			"answer GRPCController/Shutdown before the server stops: a host waits for that answer",
		}
	case out.Hung != "":
		f.ID, f.Message = hostHangs, fmt.Sprintf("a stock host waits for ever at the step %q", out.Hung)
		f.Fix = []string{"answer grpc.health.v1.Health/Check at once, whatever else goes on"}
	default:
		return c.stepFinding(out, f, limit)
	}
	return &f
}

// stepFinding is about the first step that did not go well.
func (c *check) stepFinding(out stock.Outcome, f hook.Finding, limit time.Duration) *hook.Finding {
	for _, step := range out.Steps {
		if step.Err == "" {
			continue
		}
		late := strings.Contains(step.Err, "timeout while waiting for plugin to start")
		if late && step.Name == "start" && c.s.Program().Python {
			f.ID = handshakeUnflushed
			f.Message = fmt.Sprintf("a stock host gets no handshake within %s: it stays in Python's buffer, which pyplug switches off and hosts do not", shown(limit))
			f.Fix = []string{"print(line, flush=True)"}
			return &f
		}
		if f.Fix = []string{"see what the stages before it found; a host asks no more of a plugin than they do"}; step.Name == stock.StepPing {
			f.Fix = []string{"serve grpc.health.v1.Health, and set the service \"plugin\" to SERVING"}
		}
		f.ID, f.Message = hostRefused, "a stock host says, when it "+stepWord[step.Name]+": "+step.Err
		return &f
	}
	return nil
}

// killed tells that the host had to kill a plugin which serves a controller; nil
// when not. One without has been told of.
func (c *check) killed(out stock.Outcome) *hook.Finding {
	const grace = 2 * time.Second // go-plugin's
	stop, ok := out.Step(stock.StepStop)
	if !ok || stop.Took < grace || !c.controller {
		return nil
	}
	f := found(hostKills, hook.Warning,
		fmt.Sprintf("a stock host had to kill it, %s after it called the controller's Shutdown", shown(stop.Took)),
		"end the program within 2 s of that call",
		"a line of more than 64 KiB on standard output makes a host stop reading, and the plugin wait in its next print")
	return &f
}

// fixedAddress tells that two starts gave the same port. nil when not.
func (c *check) fixedAddress(out stock.Outcome) *hook.Finding {
	line := c.s.Evidence().Line
	if line.Network != "tcp" || out.Address != line.Network+":"+line.Address {
		return nil
	}
	f := found(addressFixed, hook.Warning, "its address is always "+line.Address+", so that two of it cannot run at a time",
		"listen on port 0 and print the one that the system chose: server.add_insecure_port(\"127.0.0.1:0\")")
	return &f
}
