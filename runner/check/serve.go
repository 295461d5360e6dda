package check

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// The stages that ask the running plugin.

// What a health service may say.
const (
	serving = "SERVING"
	unknown = "SERVICE_UNKNOWN"
)

// endedInCall is why a plugin that its manifest's calls have ended is not asked.
const endedInCall = "it ended in a call of its manifest"

// health tells what the health service said when the plugin started, and asks
// for the other services.
func (c *check) health(ctx context.Context) hook.Stage {
	if c.faultAt == stageHooks && !c.s.Running() {
		return hook.Stage{Verdict: hook.Skipped, Message: endedInCall}
	}
	if c.report.Transport == "pipe" {
		return c.functionHealth(ctx)
	}
	e := c.s.Evidence()
	said := e.Unhealthy
	if c.faultAt == stageHealth {
		said = c.fault
	}
	if said != nil {
		return hook.Stage{Took: e.Health, Findings: c.failAs(hook.Unhealthy, healthID(said), said)}
	}
	c.healthy = true
	st := hook.Stage{Message: fmt.Sprintf("%q is %s", e.Service, serving)}
	ctx, cancel := context.WithTimeout(ctx, c.s.Settings().Timeouts.Probe)
	defer cancel()
	statuses := map[string]string{e.Service: serving}
	for _, name := range c.otherServices(ctx, e.Service) {
		status, err := c.s.GRPC().HealthOf(ctx, name)
		if err != nil {
			break // its verdict does not depend on these
		}
		statuses[name] = status
		switch {
		case status == unknown:
		case name == "":
			st.Message += ", the server as a whole " + status
		default:
			st.Message += fmt.Sprintf(", %q %s", name, status)
		}
	}
	st.Details = details{"services": statuses}
	return st
}

// otherServices are the names, beside the one that decides, by which health may
// be served: that of the server as a whole, and those of the services that it has.
func (c *check) otherServices(ctx context.Context, but string) []string {
	const most = 10 // each costs a call
	names := []string{""}
	if services, err := c.s.GRPC().Services(ctx); err == nil {
		names = append(names, services[:min(most, len(services))]...)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == but })
}

// healthID names what a probe said.
func healthID(err error) string {
	var limit *hook.LimitError
	e := asError(err)
	switch {
	case e.Reason == grpcplugin.ReasonNoHealth:
		return healthMissing
	case e.Reason == grpcplugin.ReasonUnknownService:
		return healthUnknownService
	case e.Kind == hook.Timeout, errors.As(err, &limit):
		return healthSilent
	}
	return healthNotServing
}

// functionHealth asks a functions file.
func (c *check) functionHealth(ctx context.Context) hook.Stage {
	asked := c.s.Plugin().Manifest.Probe
	if asked == "" {
		asked = "health"
	}
	within, cancel := context.WithTimeout(ctx, c.s.Settings().Timeouts.Call)
	defer cancel()
	sch, err := c.s.Describe(within)
	if err != nil {
		return hook.Stage{Findings: c.unwell(err)}
	}
	c.healthy = true // as long as it does not say otherwise
	if !slices.ContainsFunc(sch.Hooks, func(h schema.Hook) bool { return h.Name == asked }) {
		return hook.Stage{Message: "it has no " + asked + "(), so that it counts as healthy while it runs"}
	}
	if c.s.Plugin().Manifest.Probe == "" && needsArgument(sch, asked) {
		return hook.Stage{Message: asked + "() needs an argument: it is a hook like others, and it counts as healthy while it runs"}
	}
	within, cancel = context.WithTimeout(ctx, c.s.Settings().Timeouts.Probe)
	defer cancel()
	if err := c.s.Probe(within); err != nil {
		return hook.Stage{Findings: c.unwell(err)}
	}
	return hook.Stage{Message: asked + "() says that it is healthy"}
}

// unwell is why a functions file is not healthy. One that is gone is no more than
// that.
func (c *check) unwell(err error) []hook.Finding {
	switch asError(err).Kind {
	case hook.Unavailable:
		return c.gone()
	case hook.Crash:
		return c.fail(endedByItself, err)
	}
	return c.failAs(hook.Unhealthy, healthID(err), err)
}

// needsArgument tells whether a hook cannot be called without arguments.
func needsArgument(sch schema.Schema, name string) bool {
	return slices.ContainsFunc(sch.Hooks, func(h schema.Hook) bool {
		return h.Name == name && slices.ContainsFunc(h.Params, func(p schema.Param) bool { return p.Required })
	})
}

// hostServices are what hosts of go-plugin use of a plugin beside its own. One of
// the methods will do.
var hostServices = []struct {
	name       string
	methods    []string
	id         string
	verdict    hook.Verdict
	costs, fix string
}{
	{
		"controller", []string{"/plugin.GRPCController/Shutdown"}, noController, hook.Warning,
		"no plugin.GRPCController is served: a host waits 2 s whenever it stops the plugin, and then kills it, without finally or atexit",
		"serve its method Shutdown, and end the program there",
	}, {
		"stdio", []string{"/plugin.GRPCStdio/StreamStdio"}, noStdio, hook.Note,
		"no plugin.GRPCStdio is served: what the plugin prints later stays out of its host's log, which has a warning of go-plugin's instead",
		"serve its method StreamStdio; log to standard error either way",
	}, {
		"broker", []string{"/plugin.GRPCBroker/StartStream"}, noBroker, hook.Note,
		"no plugin.GRPCBroker is served: its host cannot hand it services to call back, which few do", "",
	}, {
		"reflection", []string{
			"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
			"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
		}, noReflection, hook.Note,
		"no server reflection is served: grpcurl and its like do not see what it offers; pyplug reads its *_pb2.py files",
		"grpcio-reflection serves it: reflection.enable_server_reflection(names, server)",
	},
}

// services tells which of the services that hosts use are there.
func (c *check) services(ctx context.Context) hook.Stage {
	var methods []string
	for _, s := range hostServices {
		methods = append(methods, s.methods...)
	}
	switch {
	case c.s.Running():
	case c.faultAt == stageHooks:
		return hook.Stage{Verdict: hook.Skipped, Message: endedInCall}
	default:
		return hook.Stage{Findings: c.gone()}
	}
	served, err := c.s.GRPC().Serves(ctx, methods...)
	switch e := asError(err); {
	case err == nil:
	case e.Kind == hook.Canceled || e.Kind == hook.Internal:
		c.ended = e
		return hook.Stage{}
	case e.Kind == hook.Crash || e.Kind == hook.Unavailable:
		return hook.Stage{Findings: c.gone()}
	default: // such as a server that takes every method
		return hook.Stage{Findings: []hook.Finding{found(servicesUnknown, hook.Note, "which services it has cannot be told: "+err.Error())}}
	}
	st := hook.Stage{Details: details{}}
	var there []string
	for _, s := range hostServices {
		has := slices.ContainsFunc(s.methods, func(m string) bool { return served[m] })
		if st.Details[s.name] = has; has {
			there = append(there, s.name)
			continue
		}
		f := found(s.id, s.verdict, s.costs)
		if s.fix != "" {
			f.Fix = []string{s.fix}
		}
		st.Findings = append(st.Findings, f)
	}
	st.Message = "none of controller, stdio, broker and reflection is served"
	switch {
	case len(there) == 1:
		st.Message = there[0] + " is served"
	case len(there) > 1:
		st.Message = joined(there) + " are served"
	}
	return st
}

// describe lists the hooks, and makes the calls that were asked for.
func (c *check) describe(ctx context.Context) hook.Stage {
	switch {
	case c.faultAt == stageHooks:
		return hook.Stage{Findings: c.bootstrapFailed()}
	case c.s.Running():
	case c.crashed():
		return hook.Stage{Verdict: hook.Skipped, Message: "it has ended"}
	default:
		return hook.Stage{Findings: c.gone()}
	}
	within, cancel := context.WithTimeout(ctx, c.s.Settings().Timeouts.Call)
	defer cancel()
	sch, err := c.s.Describe(within)
	if err != nil {
		return hook.Stage{Findings: c.undescribed(err)}
	}
	var names []string
	for _, h := range sch.Hooks {
		names = append(names, h.Name)
	}
	st := hook.Stage{Message: counted(names), Details: details{"hooks": names}}
	if len(names) == 0 {
		delete(st.Details, "hooks")
		f := found(noHooks, hook.Warning, "it has no hooks", "define a public function in it")
		if c.s.GRPC() != nil {
			f.Message = "its methods are not known: it serves no reflection, and no *_pb2.py that it imports describes a service"
			f.Fix = []string{"--proto FILE describes them, and so does grpcio-reflection in the plugin"}
		}
		st.Message = f.Message
		st.Findings = append(st.Findings, f)
	}
	c.calls(ctx, &st)
	return st
}

// undescribed tells why the hooks are not known. Hosts of go-plugin ask for no
// description, so one that does not come is no failure; one that contradicts
// itself makes calls by pyplug impossible.
func (c *check) undescribed(err error) []hook.Finding {
	switch kind := asError(err).Kind; {
	case kind == hook.Crash || kind == hook.Unavailable:
		return c.gone()
	case kind == hook.Request || c.s.GRPC() == nil:
		return c.failAs(hook.Request, hooksUnknown, err)
	}
	all := c.fail(hooksUnknown, err)
	for i := range all {
		all[i].Verdict = hook.Warning
	}
	return all
}

// bootstrapFailed tells of a call that the manifest has made after each start.
func (c *check) bootstrapFailed() []hook.Finding {
	all := c.fail(callFailed, c.fault)
	for i := range all {
		all[i].Message = strings.Join(strings.Fields("bootstrap "+c.fault.Hook), " ") + ": " + all[i].Message
		if len(all[i].Fix) == 0 {
			all[i].Fix = []string{"mend the hook, or the bootstrap call in " + filepath.Base(c.s.Plugin().Manifest.File)}
		}
	}
	return all
}

// counted is how many hooks there are, and the first of them.
func counted(hooks []string) string {
	const most = 4
	text := plural(len(hooks), "hook") + ": " + strings.Join(hooks[:min(most, len(hooks))], ", ")
	if len(hooks) > most {
		text += ", …"
	}
	return text
}

// calls makes the calls that were asked for, each within the limit of one.
func (c *check) calls(ctx context.Context, st *hook.Stage) {
	var made []map[string]any
	for _, call := range c.o.Calls {
		within, cancel := context.WithTimeout(ctx, c.s.Settings().Timeouts.Call)
		call.Emit = func(hook.Item) error { return nil } // that it comes is enough
		result, err := c.s.Call(within, call)
		cancel()
		if err != nil {
			failed := c.fail(callFailed, err)
			for i := range failed {
				failed[i].Message = call.Hook + ": " + failed[i].Message
			}
			st.Findings = append(st.Findings, failed...)
			if asError(err).Kind == hook.Crash || c.ended != nil {
				break
			}
			continue
		}
		st.Message += fmt.Sprintf("; %s answered after %s", call.Hook, shown(result.Took))
		made = append(made, map[string]any{"hook": call.Hook, "took_ms": millis(result.Took)})
	}
	if len(made) > 0 {
		st.Details["calls"] = made
	}
}
