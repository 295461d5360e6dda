package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// The stages that ask the running plugin.

// hostService is the name by which hosts of go-plugin ask for health.
const hostService = "plugin"

const serving = "SERVING"

// healthy tells what the health service said when the plugin started, and asks
// for the other services.
func (c *check) healthy(ctx context.Context) hook.Stage {
	if c.report.Transport == "pipe" {
		return c.functionHealth(ctx)
	}
	e := c.s.Evidence()
	service := c.service()
	st := hook.Stage{Message: fmt.Sprintf("%q is SERVING", service)}
	switch {
	case c.fault != nil && faultStage(c.fault, c.s) == stageHealth:
		st.Findings = c.failAs(hook.Unhealthy, c.s, healthID(c.fault), c.fault)
	case e.NoHealth:
		none := &hook.Error{Kind: hook.Unhealthy, Err: &runner.NoHealthError{}}
		st.Findings = c.fail(c.s, healthMissing, none)
	case e.Unhealthy != nil:
		st.Findings = c.fail(c.s, healthID(e.Unhealthy), e.Unhealthy)
	}
	if len(st.Findings) > 0 {
		st.Took = e.Health
		return st
	}
	ctx, cancel := context.WithTimeout(ctx, c.s.Settings().Timeouts.Probe)
	defer cancel()
	statuses := map[string]string{service: serving}
	for _, name := range c.otherServices(ctx, service) {
		status, err := c.s.GRPC().HealthOf(ctx, name)
		if err != nil {
			break // its verdict does not depend on these
		}
		statuses[name] = status
		switch {
		case status == "SERVICE_UNKNOWN":
		case name == "":
			st.Message += ", the server as a whole " + status
		default:
			st.Message += fmt.Sprintf(", %q %s", name, status)
		}
	}
	st.Details = details{"services": statuses}
	return st
}

// service is the name that health is asked for.
func (c *check) service() string {
	for _, name := range []string{c.o.Config.GRPC.Service, c.s.Plugin().Manifest.Probe} {
		if name != "" {
			return name
		}
	}
	return hostService
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
	var (
		none  *runner.NoHealthError
		bad   *runner.HealthError
		limit *hook.LimitError
	)
	e := asError(err)
	switch {
	case errors.As(err, &none):
		return healthMissing
	case errors.As(err, &bad) && bad.Status == "SERVICE_UNKNOWN":
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
	ctx, cancel := context.WithTimeout(ctx, c.s.Settings().Timeouts.Probe)
	defer cancel()
	sch, err := c.s.Describe(ctx)
	if err == nil && !slices.ContainsFunc(sch.Hooks, func(h schema.Hook) bool { return h.Name == asked }) {
		return hook.Stage{Message: "it has no " + asked + "(), so that it counts as healthy while it runs"}
	}
	if err == nil && c.s.Plugin().Manifest.Probe == "" && needsArgument(sch, asked) {
		return hook.Stage{Message: asked + "() needs an argument: it is a hook like others, and it counts as healthy while it runs"}
	}
	if err := c.s.Probe(ctx); err != nil {
		return hook.Stage{Findings: c.failAs(hook.Unhealthy, c.s, healthID(err), err)}
	}
	return hook.Stage{Message: asked + "() says that it is healthy"}
}

// needsArgument tells whether a hook cannot be called without arguments.
func needsArgument(sch schema.Schema, name string) bool {
	return slices.ContainsFunc(sch.Hooks, func(h schema.Hook) bool {
		return h.Name == name && slices.ContainsFunc(h.Params, func(p schema.Param) bool { return p.Required })
	})
}

// hostServices are what hosts of go-plugin use of a plugin beside its own.
var hostServices = []struct {
	name, method string
	id           string
	verdict      hook.Verdict
	costs, fix   string
}{
	{
		"controller", "/plugin.GRPCController/Shutdown", noController, hook.Warning,
		"no plugin.GRPCController is served: a host waits 2 s whenever it stops the plugin, and then kills it, without finally or atexit",
		"serve its method Shutdown, and end the program there",
	}, {
		"stdio", "/plugin.GRPCStdio/StreamStdio", noStdio, hook.Note,
		"no plugin.GRPCStdio is served: what the plugin prints later stays out of its host's log, which has a warning of go-plugin's instead",
		"serve its method StreamStdio; log to standard error either way",
	}, {
		"broker", "/plugin.GRPCBroker/StartStream", noBroker, hook.Note,
		"no plugin.GRPCBroker is served: its host cannot hand it services to call back, which few do", "",
	}, {
		"reflection", "", noReflection, hook.Note,
		"no server reflection is served: grpcurl and its like do not see what it offers; pyplug reads its *_pb2.py files",
		"grpcio-reflection serves it: reflection.enable_server_reflection(names, server)",
	},
}

// The two versions of reflection; either will do.
const (
	reflectionV1    = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
	reflectionAlpha = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
)

// services tells which of the services that hosts use are there.
func (c *check) services(ctx context.Context) hook.Stage {
	methods := []string{reflectionV1, reflectionAlpha}
	for _, s := range hostServices[:3] {
		methods = append(methods, s.method)
	}
	if !c.s.Running() {
		return hook.Stage{Verdict: hook.Skipped, Message: "it does not run"}
	}
	served, err := c.s.GRPC().Serves(ctx, methods...)
	switch kind := asError(err).Kind; {
	case err == nil:
	case kind == hook.Crash || kind == hook.Canceled || kind == hook.Internal:
		return hook.Stage{Findings: c.fail(c.s, callFailed, err)}
	default: // such as a server that takes every method
		return hook.Stage{Findings: []hook.Finding{found(servicesUnknown, hook.Note, "which services it has cannot be told: "+err.Error())}}
	}
	served[""] = served[reflectionV1] || served[reflectionAlpha]
	st := hook.Stage{Details: details{}}
	var there []string
	for _, s := range hostServices {
		if st.Details[s.name] = served[s.method]; served[s.method] {
			there = append(there, s.name)
			continue
		}
		f := found(s.id, s.verdict, s.costs)
		if s.fix != "" {
			f.Fix = []string{s.fix}
		}
		st.Findings = append(st.Findings, f)
	}
	c.controller = served[hostServices[0].method]
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
	if c.fault != nil && c.s.Running() {
		return hook.Stage{Findings: c.fail(c.s, callFailed, c.fault)}
	}
	if !c.s.Running() {
		if c.report.FirstFailure() == nil { // nothing has told of it yet
			exit := c.s.Exit()
			return hook.Stage{Findings: c.fail(c.s, hooksUnknown, &hook.Error{
				Kind: hook.Crash, Exit: &exit, Err: errors.New("the plugin ended by itself, though nobody had called it"),
			})}
		}
		return hook.Stage{Verdict: hook.Skipped, Message: "it does not run"}
	}
	within, cancel := context.WithTimeout(ctx, c.s.Settings().Timeouts.Call)
	defer cancel()
	sch, err := c.s.Describe(within)
	if err != nil {
		return hook.Stage{Findings: c.fail(c.s, hooksUnknown, err)}
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

// counted is how many hooks there are, and the first of them.
func counted(hooks []string) string {
	const most = 4
	noun := "hooks"
	if len(hooks) == 1 {
		noun = "hook"
	}
	text := fmt.Sprintf("%d %s: %s", len(hooks), noun, strings.Join(hooks[:min(most, len(hooks))], ", "))
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
			failed := c.fail(c.s, callFailed, err)
			for i := range failed {
				failed[i].Message = call.Hook + ": " + failed[i].Message
			}
			st.Findings = append(st.Findings, failed...)
			if !c.s.Running() || c.ended != nil {
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
