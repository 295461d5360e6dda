package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/check/stock"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// host runs an unmodified host of go-plugin, which starts, pings and stops the plugin.
func (c *check) host(ctx context.Context) hook.Stage {
	if len(c.o.Host) == 0 {
		return failed(found(hostUnchecked, hook.Note, "no stock host is available"))
	}
	out, err := c.runHost(ctx)
	if ctx.Err() != nil {
		return hook.Stage{} // do reports the interruption
	}
	if err != nil {
		return failed(found(hostUnchecked, hook.Note, "cannot run the stock host: "+err.Error()))
	}
	st := hook.Stage{Details: map[string]any{}}
	var steps []string
	for _, step := range out.Steps {
		st.Details[step.Name+"_ms"] = hook.Milliseconds(step.Took)
		if step.Err == "" {
			steps = append(steps, stepWord[step.Name]+" in "+schema.Span(step.Took))
		}
	}
	st.Message = "a stock host " + schema.Joined(steps)
	if f, failed := c.hostFailure(ctx, out); failed {
		if len(out.Log) > 0 {
			st.Details["log"] = out.Log
		}
		f.Verdict, f.Kind = hook.Failure, cmp.Or(f.Kind, hook.Unhealthy)
		st.Findings = []hook.Finding{f}
	} else if f, badly := c.endedUnderHost(out); badly {
		st.Findings = []hook.Finding{f}
	} else if len(out.Left) > 0 { // after a hang these include the plugin itself
		st.Findings = []hook.Finding{left("after a stock host stopped the plugin, processes were left behind: ", out.Left)}
	}
	if line := c.s.Evidence().Line; line.Network == "tcp" && out.Address == "tcp:"+line.Address && !firstFree(line.Address) {
		st.Findings = append(st.Findings, found(addressFixed, hook.Warning, "it always listens on "+line.Address+", so two instances cannot run at the same time",
			"listen on port 0 and print the port that the system chooses: server.add_insecure_port(\"127.0.0.1:0\")"))
	}
	return st
}

// firstFree reports whether a port is in the range that hosts offer to a plugin. A plugin that uses
// the first free port of the range gets the same port at every start unless another program uses
// that port.
func firstFree(address string) bool {
	_, port, _ := net.SplitHostPort(address) // the address of a handshake is valid
	n, _ := strconv.Atoi(port)
	return n >= handshake.MinPort && n <= handshake.MaxPort
}

// hostLimit returns the timeout of a start by the stock host, or without a cookie. It is longer
// than the first start took; real hosts wait for a minute.
func (c *check) hostLimit() time.Duration {
	return max(8*time.Second, 3*c.s.Evidence().Handshake+3*time.Second)
}

// watchTime is how long the plugin must keep running while the stock host is idle.
const watchTime = time.Second

// runHost runs the stock host with the plugin. It adds env to the plugin's environment.
func (c *check) runHost(ctx context.Context, env ...string) (stock.Outcome, error) {
	p, limit := c.s.Program(), c.hostLimit()
	return stock.Run(ctx, stock.Request{
		Host: c.o.Host, Env: append(c.hostEnviron(), env...),
		Spec: stock.Spec{
			Command: append([]string{p.Path}, p.Args...), Dir: p.Dir, CookieKey: p.CookieKey, CookieValue: p.CookieValue,
			Versions: p.Versions, MTLS: p.MTLS, Ping: c.hostPings(), Watch: watchTime, StartTimeout: limit,
			Limit: limit + 3*time.Second, // go-plugin waits 2 s before it kills
		},
	})
}

// hostPings reports whether the plugin's host asks for its health. An unknown host counts as asking
// if the plugin has a health service.
func (c *check) hostPings() bool {
	if host, named := c.s.Host(); named {
		return host.Pings
	}
	e := c.s.Evidence()
	return e.Unhealthy == nil || !grpcplugin.LacksHealth(e.Unhealthy, e.Service)
}

var stepWord = map[string]string{"start": "starts it", "connect": "connects", "ping": "pings it", "watch": "watches it", "stop": "stops it"}

const unbuffered = "PYTHONUNBUFFERED"

// hostEnviron returns the environment of the host: the plugin's environment without the variables
// that every host sets itself. It keeps PYTHONUNBUFFERED only if --env sets it.
func (c *check) hostEnviron() []string {
	env := proc.Without(c.s.Environ, handshake.Variables...)
	if !slices.ContainsFunc(c.o.Config.Env, func(e string) bool { return strings.HasPrefix(e, unbuffered+"=") }) {
		env = proc.Without(env, unbuffered)
	}
	return env
}

// hostFailure returns the first problem that a host's user would notice. failed is false
// if there is none.
func (c *check) hostFailure(ctx context.Context, out stock.Outcome) (f hook.Finding, failed bool) {
	at := slices.IndexFunc(out.Steps, func(s stock.Step) bool { return s.Err != "" })
	switch {
	case out.Crashed != "":
		return found(hostCrashes, hook.Failure, "a stock host crashes: "+out.Crashed,
			"print a certificate as field 6 only when PLUGIN_CLIENT_CERT is set"), true
	case out.Hung == stock.StepStop:
		return found(hostHangs, hook.Failure, "a stock host hangs when it stops the plugin",
			"stop the processes that the plugin starts, or redirect their output: a host reads the pipes until the last process closes them",
			"answer GRPCController/Shutdown before stopping the server: a host waits for the answer"), true
	case out.Hung != "":
		return found(hostHangs, hook.Failure, fmt.Sprintf("a stock host hangs in step %q", out.Hung),
			"answer grpc.health.v1.Health/Check at once"), true
	case out.Exit != nil && out.Exit.ByItself:
		exit := hook.Exit{Code: out.Exit.Code, Signal: out.Exit.Signal, Uptime: out.Exit.Uptime}
		f = c.fail(endedByItself, &hook.Error{Kind: hook.Crash, Exit: &exit,
			Err: errors.New("the plugin exited when a stock host had started it, although nothing stopped it")})
		return withLog(f, out), true
	case at < 0:
		return hook.Finding{}, false
	}
	step := out.Steps[at]
	if step.Name == stock.StepStart && strings.Contains(step.Err, "timeout while waiting") && c.buffers(ctx) {
		return found(handshakeUnflushed, hook.Failure,
			fmt.Sprintf("a stock host gets no handshake within %s: the line stays in Python's buffer, which pyplug disables and hosts do not", schema.Span(c.hostLimit())),
			"print(line, flush=True)"), true
	}
	f = found(hostRefused, hook.Failure, "a stock host fails when it "+stepWord[step.Name]+": "+step.Err,
		"run the plugin without PYTHONUNBUFFERED and PLUGIN_UNIX_SOCKET_DIR, which pyplug sets and a stock host does not")
	if step.Name == stock.StepPing {
		f.Fix = []string{"serve grpc.health.v1.Health, and set the service \"plugin\" to SERVING"}
	}
	return withLog(f, out), true
}

// withLog adds the last lines of the host's log to a finding.
func withLog(f hook.Finding, out stock.Outcome) hook.Finding {
	const most = 8
	for _, line := range out.Log[max(0, len(out.Log)-most):] {
		f.Message += "\nlog: " + line
	}
	return f
}

// buffers examines a plugin whose handshake never reached its host. It reports whether the plugin
// prints a handshake if Python does not buffer its output.
func (c *check) buffers(ctx context.Context) bool {
	if !c.s.Program().Python {
		return false
	}
	out, err := c.runHost(ctx, unbuffered+"=1")
	start, ok := out.Step(stock.StepStart)
	return err == nil && ok && start.Err == ""
}

// endedUnderHost reports a plugin that the host had to kill, or that exited badly when the host
// stopped it. It reports nothing if the report already has the cause: a missing controller, or a
// bad exit without the host.
func (c *check) endedUnderHost(out stock.Outcome) (f hook.Finding, badly bool) {
	says := func(id string) bool { return c.reported(func(f hook.Finding) bool { return f.ID == id }) }
	stop, ok := out.Step(stock.StepStop)
	switch {
	case !ok || out.Exit == nil:
		return f, false
	case !out.Exit.Killed:
		exit := hook.Exit{Code: out.Exit.Code, Signal: out.Exit.Signal, Step: "asked"}
		return found(stopUnclean, hook.Warning, "it exited with "+exit.String()+" when a stock host stopped it, as if it had crashed",
			"fix what fails during the exit; the last lines of its output show it"), unclean(exit) && !says(stopUnclean)
	case says(noController):
		return f, false
	}
	seen := fmt.Sprintf("a stock host had to kill it %s after calling Shutdown", schema.Span(stop.Took))
	if c.s.Instance != nil && c.s.Exit().Step == "asked" {
		seen += "; this may be intermittent, because it exited at once for pyplug"
	}
	return found(hostKills, hook.Warning, seen,
		"exit within 2 s of that call",
		"print no line of more than 64 KiB on standard output: a host stops reading there, and the next print blocks"), true
}
