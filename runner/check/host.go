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

// host has an unmodified host of go-plugin start, ping and stop the plugin.
func (c *check) host(ctx context.Context) hook.Stage {
	if len(c.o.Host) == 0 {
		return hook.Stage{Findings: []hook.Finding{found(hostUnchecked, hook.Note, "there is no stock host to start it with")}}
	}
	out, err := c.runHost(ctx)
	if ctx.Err() != nil {
		return hook.Stage{} // do reports the interruption
	}
	if err != nil {
		return hook.Stage{Findings: []hook.Finding{found(hostUnchecked, hook.Note, "the stock host could not be run: "+err.Error())}}
	}
	st := hook.Stage{Details: details{}}
	var steps []string
	for _, step := range out.Steps {
		st.Details[step.Name+"_ms"] = millis(step.Took)
		if step.Err == "" {
			steps = append(steps, stepWord[step.Name]+" in "+shown(step.Took))
		}
	}
	st.Message = "a stock host " + joined(steps)
	if f := c.hostFinding(ctx, out); f != nil {
		if len(out.Log) > 0 {
			st.Details["log"] = out.Log
		}
		st.Findings = append(st.Findings, *f)
	}
	if f := c.killed(out); f != nil && len(st.Findings) == 0 { // else the host could not ask
		st.Findings = append(st.Findings, *f)
	}
	if len(out.Left) > 0 && len(st.Findings) == 0 { // after a hang the plugin itself is among them
		st.Findings = append(st.Findings, left("a stock host leaves processes behind: ", out.Left))
	}
	if f := c.fixedAddress(out); f != nil {
		st.Findings = append(st.Findings, *f)
	}
	return st
}

// hostLimit is the start timeout of the stock host. This start may take longer than the
// one before; hosts wait for a minute.
func (c *check) hostLimit() time.Duration {
	return max(8*time.Second, 3*c.s.Evidence().Handshake+3*time.Second)
}

// runHost has the stock host start the plugin, with env added to its environment.
func (c *check) runHost(ctx context.Context, env ...string) (stock.Outcome, error) {
	p, limit := c.s.Program(), c.hostLimit()
	return stock.Run(ctx, stock.Request{
		Host: c.o.Host, Env: append(c.hostEnviron(), env...),
		Spec: stock.Spec{
			Command: append([]string{p.Path}, p.Args...), Dir: p.Dir, CookieKey: p.CookieKey, CookieValue: p.CookieValue,
			Versions: p.Versions, MTLS: c.s.Settings().MTLS, StartTimeout: limit,
			Limit: limit + 3*time.Second, // go-plugin waits 2 s before it kills
		},
	})
}

var stepWord = map[string]string{"start": "starts it", "connect": "connects", "ping": "pings it", "stop": "stops it"}

const unbuffered = "PYTHONUNBUFFERED"

// hostEnviron is the environment of the host: the plugin's, without what another host
// would not set. What --env sets stays.
func (c *check) hostEnviron() []string {
	env := c.s.Environ()
	for _, name := range handshake.Variables {
		env = unset(env, name)
	}
	if !slices.ContainsFunc(c.o.Config.Env, func(e string) bool { return strings.HasPrefix(e, unbuffered+"=") }) {
		env = unset(env, unbuffered)
	}
	return env
}

// hostFinding is what a host's user would complain about; nil if there is nothing.
func (c *check) hostFinding(ctx context.Context, out stock.Outcome) *hook.Finding {
	f := hook.Finding{Verdict: hook.Failure, Kind: hook.Unhealthy}
	switch {
	case out.Crashed != "":
		f.ID, f.Message = hostCrashes, "a stock host itself crashes: "+out.Crashed
		f.Fix = []string{"print a certificate as field 6 only when PLUGIN_CLIENT_CERT is set"}
	case out.Hung == "stop":
		f.ID, f.Message = hostHangs, "a stock host never returns from stopping it"
		f.Fix = []string{
			"end what the plugin starts, or redirect its output: a host reads the pipes until the last process closes them",
			"answer GRPCController/Shutdown before the server stops: a host waits for that answer",
		}
	case out.Hung != "":
		f.ID, f.Message = hostHangs, fmt.Sprintf("a stock host hangs at the step %q", out.Hung)
		f.Fix = []string{"answer grpc.health.v1.Health/Check at once, whatever else is running"}
	default:
		return c.stepFinding(ctx, out, f)
	}
	return &f
}

// stepFinding is about the first step that failed.
func (c *check) stepFinding(ctx context.Context, out stock.Outcome, f hook.Finding) *hook.Finding {
	at := slices.IndexFunc(out.Steps, func(s stock.Step) bool { return s.Err != "" })
	if at < 0 {
		return nil
	}
	step := out.Steps[at]
	if step.Name == stock.StepStart && strings.Contains(step.Err, "timeout while waiting") && c.buffers(ctx) {
		f.ID = handshakeUnflushed
		f.Message = fmt.Sprintf("a stock host gets no handshake within %s: the line stays in Python's buffer, which pyplug switches off and hosts do not", shown(c.hostLimit()))
		f.Fix = []string{"print(line, flush=True)"}
		return &f
	}
	f.ID, f.Message = hostRefused, "a stock host says, when it "+stepWord[step.Name]+": "+step.Err
	const most = 8 // lines of its log
	for _, line := range out.Log[max(0, len(out.Log)-most):] {
		f.Message += "\nlog: " + line
	}
	switch step.Name {
	case stock.StepPing:
		f.Fix = []string{"serve grpc.health.v1.Health, and set the service \"plugin\" to SERVING"}
	default:
		f.Fix = []string{"run the plugin without PYTHONUNBUFFERED and PLUGIN_UNIX_SOCKET_DIR, which pyplug sets and a stock host does not"}
	}
	return &f
}

// buffers reports whether the plugin, of which its host got no handshake, prints one when
// Python does not buffer.
func (c *check) buffers(ctx context.Context) bool {
	if !c.s.Program().Python {
		return false
	}
	out, err := c.runHost(ctx, unbuffered+"=1")
	start, ok := out.Step(stock.StepStart)
	return err == nil && ok && start.Err == ""
}

// killed reports that the host had to kill the plugin, unless the report says already that
// it has no controller; nil if not.
func (c *check) killed(out stock.Outcome) *hook.Finding {
	const grace = 2 * time.Second // go-plugin's
	stop, ok := out.Step(stock.StepStop)
	if !ok || stop.Took < grace || c.reported(func(f hook.Finding) bool { return f.ID == noController }) {
		return nil
	}
	f := found(hostKills, hook.Warning,
		fmt.Sprintf("a stock host had to kill it, %s after it called the controller's Shutdown", shown(stop.Took)),
		"end the program within 2 s of that call",
		"a line of more than 64 KiB on standard output makes a host stop reading, and the plugin wait in its next print")
	return &f
}

// fixedAddress reports that two starts listened on the same port; nil if not.
func (c *check) fixedAddress(out stock.Outcome) *hook.Finding {
	line := c.s.Evidence().Line
	if line.Network != "tcp" || out.Address != line.Network+":"+line.Address {
		return nil
	}
	f := found(addressFixed, hook.Warning, "its address is always "+line.Address+", so that two of it cannot run at a time",
		"listen on port 0 and print the port that the system chose: server.add_insecure_port(\"127.0.0.1:0\")")
	return &f
}
