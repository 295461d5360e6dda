package check

import (
	"context"
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
	"github.com/pyplug/pyplug/runner/schema"
)

// host starts, pings and stops the plugin with an unmodified host of go-plugin.
func (c *check) host(ctx context.Context) hook.Stage {
	if len(c.o.Host) == 0 {
		return stageWith(found(hostUnchecked, hook.Note, "no stock host is available"))
	}
	out, err := c.runHost(ctx)
	if ctx.Err() != nil {
		return hook.Stage{} // do reports the interruption
	}
	if err != nil {
		return stageWith(found(hostUnchecked, hook.Note, "cannot run the stock host: "+err.Error()))
	}
	st := hook.Stage{Details: map[string]any{}}
	var steps []string
	for _, step := range out.Steps {
		st.Details[step.Name+"_ms"] = hook.Milliseconds(step.Took)
		if step.Err == "" {
			steps = append(steps, stepWord[step.Name]+" in "+schema.Span(step.Took))
		}
	}
	st.Message = "a stock host " + joined(steps)
	if f, failed := c.hostFailure(ctx, out); failed {
		if len(out.Log) > 0 {
			st.Details["log"] = out.Log
		}
		f.Verdict, f.Kind = hook.Failure, hook.Unhealthy
		st.Findings = []hook.Finding{f}
	} else if f, slow := c.killed(out); slow {
		st.Findings = []hook.Finding{f}
	} else if len(out.Left) > 0 { // after a hang the plugin itself is among them
		st.Findings = []hook.Finding{left("after a stock host stopped the plugin, processes were left behind: ", out.Left)}
	}
	if line := c.s.seen.Line; line.Network == "tcp" && out.Address == "tcp:"+line.Address && !firstFree(line.Address) {
		st.Findings = append(st.Findings, found(addressFixed, hook.Warning, "it always listens on "+line.Address+", so two instances cannot run at the same time",
			"listen on port 0 and print the port that the system chooses: server.add_insecure_port(\"127.0.0.1:0\")"))
	}
	return st
}

// firstFree reports whether a port is in the range that hosts offer. A plugin that takes the
// first free port of it has the same one at every start, which is no mistake.
func firstFree(address string) bool {
	_, port, _ := net.SplitHostPort(address) // a handshake's address
	n, _ := strconv.Atoi(port)
	return n >= handshake.MinPort && n <= handshake.MaxPort
}

// hostLimit is the timeout of a start by the stock host, or without a cookie. It allows for
// more than the first start took. Hosts wait for a minute.
func (c *check) hostLimit() time.Duration {
	return max(8*time.Second, 3*c.s.seen.Handshake+3*time.Second)
}

// runHost runs the stock host with the plugin. env is added to its environment.
func (c *check) runHost(ctx context.Context, env ...string) (stock.Outcome, error) {
	p, limit := c.s.Program(), c.hostLimit()
	return stock.Run(ctx, stock.Request{
		Host: c.o.Host, Env: append(c.hostEnviron(), env...),
		Spec: stock.Spec{
			Command: append([]string{p.Path}, p.Args...), Dir: p.Dir, CookieKey: p.CookieKey, CookieValue: p.CookieValue,
			Versions: p.Versions, MTLS: c.s.Settings().MTLS, Ping: c.hostPings(), StartTimeout: limit,
			Limit: limit + 3*time.Second, // go-plugin waits 2 s before it kills
		},
	})
}

// hostPings reports whether the stock host asks for the plugin's health: as the named host
// does, else if the plugin has a health service.
func (c *check) hostPings() bool {
	if host, named := c.s.Host(); named {
		return host.Pings
	}
	e := c.s.seen
	return e.Unhealthy == nil || !grpcplugin.LacksHealth(e.Unhealthy, e.Service)
}

var stepWord = map[string]string{"start": "starts it", "connect": "connects", "ping": "pings it", "stop": "stops it"}

const unbuffered = "PYTHONUNBUFFERED"

// hostEnviron returns the environment of the host: the plugin's, without the variables that
// only pyplug sets. Those of --env stay.
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

// hostFailure returns the first failure that a user of the host would notice, if there is one.
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
	case at < 0:
		return hook.Finding{}, false
	}
	step := out.Steps[at]
	if step.Name == stock.StepStart && strings.Contains(step.Err, "timeout while waiting") && c.buffers(ctx) {
		return found(handshakeUnflushed, hook.Failure,
			fmt.Sprintf("a stock host gets no handshake within %s: the line stays in Python's buffer, which pyplug disables and hosts do not", schema.Span(c.hostLimit())),
			"print(line, flush=True)"), true
	}
	f = found(hostRefused, hook.Failure, "a stock host reports, when it "+stepWord[step.Name]+": "+step.Err,
		"run the plugin without PYTHONUNBUFFERED and PLUGIN_UNIX_SOCKET_DIR, which pyplug sets and a stock host does not")
	if step.Name == stock.StepPing {
		f.Fix = []string{"serve grpc.health.v1.Health, and set the service \"plugin\" to SERVING"}
	}
	const most = 8 // lines of its log
	for _, line := range out.Log[max(0, len(out.Log)-most):] {
		f.Message += "\nlog: " + line
	}
	return f, true
}

// buffers reports whether the host receives the handshake when Python does not buffer.
func (c *check) buffers(ctx context.Context) bool {
	if !c.s.Program().Python {
		return false
	}
	out, err := c.runHost(ctx, unbuffered+"=1")
	start, ok := out.Step(stock.StepStart)
	return err == nil && ok && start.Err == ""
}

// killed reports whether the host had to kill the plugin. It is false if the report already
// says that the plugin has no controller.
func (c *check) killed(out stock.Outcome) (f hook.Finding, killed bool) {
	const grace = 2 * time.Second // go-plugin's
	stop, ok := out.Step(stock.StepStop)
	if !ok || stop.Took < grace || c.reported(func(f hook.Finding) bool { return f.ID == noController }) {
		return f, false
	}
	return found(hostKills, hook.Warning, fmt.Sprintf("a stock host had to kill it %s after calling Shutdown", schema.Span(stop.Took)),
		"exit within 2 s of that call",
		"print no line of more than 64 KiB on standard output: a host stops reading there, and the next print blocks"), true
}

// cookie starts the plugin without the magic cookie, which it should reject.
func (c *check) cookie(ctx context.Context) hook.Stage {
	program := c.s.Program()
	if program.CookieKey == "" {
		return stageWith(found(cookieUnknown, hook.Note, "the plugin's magic cookie is unknown, so the check did not start it without one",
			"set the cookie of its host: --cookie KEY=VALUE, or cookie-key and cookie-value in the manifest"))
	}
	cfg := c.o.Config
	cfg.GRPC.AnyHealth, cfg.GRPC.NoCookie = true, true
	cfg.Output = nil // its error has what it prints
	cfg.Environ, cfg.Env = unset(cfg.Environ, program.CookieKey), unset(cfg.Env, program.CookieKey)
	cfg.Timeouts.Start = min(c.hostLimit(), c.s.Settings().Timeouts.Start)
	p, err := open(ctx, cfg)
	if err == nil {
		err = p.Start(ctx)
	}
	_, _ = p.Close(c.kill) // the stage stop has reported how it ends
	e := hook.AsError(err)
	seen := "it starts without the magic cookie " + program.CookieKey + ", as if a host had started it"
	switch {
	case err == nil:
	case endsCheck(e):
		return stageWith(c.finding(cookieUnchecked, e))
	case e.Kind == hook.Start && e.Exit != nil:
		return hook.Stage{Message: "it refuses to start without it: " + e.Exit.String()}
	case e.Kind == hook.Start:
		return hook.Stage{Message: "it refuses to start without it"}
	default:
		seen = "it does not exit without the magic cookie " + program.CookieKey + ": " + e.Error()
	}
	return stageWith(found(cookieUnchecked, hook.Warning, seen,
		"check the variable "+program.CookieKey+" first; if its value differs, print that the plugin needs its host, and exit"))
}
