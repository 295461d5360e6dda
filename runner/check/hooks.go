package check

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// hooks lists the hooks and makes the calls of --call.
func (c *check) hooks(ctx context.Context) hook.Stage {
	switch {
	case c.faultAt == stageHooks:
		return stageWith(c.bootstrapFailed())
	case c.s.Running():
	case c.crashed():
		return hook.Stage{Verdict: hook.Skipped, Message: "the plugin has exited"}
	default:
		return stageWith(c.gone())
	}
	within, cancel := hook.WithLimit(ctx, c.s.Settings().Timeouts.Call)
	defer cancel()
	sch, err := c.s.inst.Describe(within, "")
	if err != nil {
		return stageWith(c.undescribed(err))
	}
	var names []string
	for _, h := range sch.Hooks {
		names = append(names, h.Name)
	}
	st := hook.Stage{Findings: unresolved(sch.Hooks), Message: counted(names), Details: map[string]any{"hooks": names}}
	if len(names) == 0 {
		delete(st.Details, "hooks")
		f := found(noHooks, hook.Warning, "the plugin has no hooks", append([]string{"define a public function in the file"}, c.s.ProgramHint()...)...)
		if c.s.GRPC() != nil {
			f.Message = "its methods are unknown: no server reflection describes them, and no *_pb2.py that it imports"
			f.Fix = []string{"describe them with --proto FILE, or serve grpcio-reflection in the plugin"}
		}
		st.Message = f.Message
		st.Findings = append(st.Findings, f)
	}
	c.calls(ctx, &st)
	return st
}

// unresolved returns a note for each annotation that cannot be evaluated.
func unresolved(hooks []schema.Hook) (notes []hook.Finding) {
	for _, h := range hooks {
		for _, p := range h.Params {
			if p.Unresolved != "" {
				text := fmt.Sprintf("%s: arguments for %s are not converted: its annotation raises %s", h.Name, p.Name, p.Unresolved)
				notes = append(notes, found(annotationUnresolved, hook.Note, text))
			}
		}
	}
	return notes
}

// undescribed returns the finding for unknown hooks. A missing description is a warning,
// because hosts of go-plugin do not ask for one. One that contradicts itself is a failure,
// because pyplug cannot call the hooks.
func (c *check) undescribed(err error) hook.Finding {
	switch kind := hook.AsError(err).Kind; {
	case kind == hook.Crash || kind == hook.Unavailable:
		return c.gone()
	case kind == hook.Request || c.s.GRPC() == nil:
		return c.findingAs(hook.Request, hooksUnknown, err)
	}
	f := c.finding(hooksUnknown, err)
	f.Verdict = hook.Warning
	return f
}

// bootstrapFailed returns the finding for a failed bootstrap call of the manifest.
func (c *check) bootstrapFailed() hook.Finding {
	f := c.finding(callFailed, c.fault)
	f.Message = strings.TrimRight("bootstrap "+c.fault.Hook, " ") + ": " + f.Message
	if len(f.Fix) == 0 {
		f.Fix = []string{"fix the hook or the bootstrap call in " + filepath.Base(c.s.Plugin().Manifest.File)}
	}
	return f
}

// counted returns the number of hooks and the names of the first ones.
func counted(hooks []string) string {
	const most = 4
	text := schema.Plural(len(hooks), "hook") + ": " + strings.Join(hooks[:min(most, len(hooks))], ", ")
	if len(hooks) > most {
		text += ", …"
	}
	return text
}

// calls makes the calls of --call, each with its own timeout.
func (c *check) calls(ctx context.Context, st *hook.Stage) {
	var made []map[string]any
	for _, call := range c.o.Calls {
		result, err := c.s.Call(ctx, call)
		if err != nil {
			f := c.finding(callFailed, err)
			f.Message = call.Hook + ": " + f.Message
			st.Findings = append(st.Findings, f)
			if f.Kind == hook.Crash || endsCheck(f.Err) {
				break
			}
			continue
		}
		st.Message += fmt.Sprintf("; %s answered after %s", call.Hook, schema.Span(result.Took))
		made = append(made, map[string]any{"hook": call.Hook, "took_ms": hook.Milliseconds(result.Took)})
	}
	if len(made) > 0 {
		st.Details["calls"] = made
	}
}

// hostService is a row of hostServices.
type hostService struct {
	name           string
	methods        []string
	id, costs, fix string
}

// hostServices are the services that hosts of go-plugin use besides the plugin's own. One
// of the methods is enough. The broker is not among them: some do not survive the question.
// Nor is the controller: the stage stop shows it, and the question would end some plugins.
var hostServices = []hostService{
	{
		"stdio", []string{"/plugin.GRPCStdio/StreamStdio"}, noStdio,
		"no plugin.GRPCStdio service: the host's log has a warning of go-plugin instead of what the plugin prints after the handshake",
		"serve its method StreamStdio, or log to standard error",
	}, {
		"reflection", []string{
			"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
			"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
		}, noReflection,
		"no server reflection: grpcurl and similar tools cannot list the methods; pyplug reads the *_pb2.py files",
		"enable it with grpcio-reflection: reflection.enable_server_reflection(names, server)",
	},
}

// services reports which of the hostServices the plugin serves.
func (c *check) services(ctx context.Context) hook.Stage {
	var names, methods []string
	for _, s := range hostServices {
		names, methods = append(names, s.name), append(methods, s.methods...)
	}
	switch {
	case c.s.Running():
	case c.faultAt == stageHooks:
		return hook.Stage{Verdict: hook.Skipped, Message: endedInCall}
	default:
		return stageWith(c.gone())
	}
	served, err := c.s.GRPC().Serves(ctx, methods...)
	switch e := hook.AsError(err); {
	case err == nil:
	case endsCheck(e):
		return stageWith(c.finding(servicesUnknown, e))
	case e.Kind == hook.Crash || e.Kind == hook.Unavailable:
		return stageWith(c.gone())
	default: // such as a server that takes every method
		return stageWith(found(servicesUnknown, hook.Note, "cannot list the plugin's services: "+err.Error()))
	}
	st := hook.Stage{Details: map[string]any{}}
	var there []string
	for _, s := range hostServices {
		has := slices.ContainsFunc(s.methods, func(m string) bool { return served[m] })
		if st.Details[s.name] = has; has {
			there = append(there, s.name)
			continue
		}
		st.Findings = append(st.Findings, found(s.id, hook.Note, s.costs, s.fix))
	}
	st.Message = "none of " + joined(names) + " is served"
	switch {
	case len(there) == 1:
		st.Message = there[0] + " is served"
	case len(there) > 1:
		st.Message = joined(there) + " are served"
	}
	return st
}
