package check

import (
	"context"
	"slices"

	"github.com/pyplug/pyplug/runner/hook"
)

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

// services reports which of the services that hosts use are served.
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
		return failed(c.gone())
	}
	served, err := c.s.GRPC().Serves(ctx, methods...)
	switch e := hook.AsError(err); {
	case err == nil:
	case endsCheck(e):
		return failed(c.fail(servicesUnknown, e))
	case e.Kind == hook.Crash || e.Kind == hook.Unavailable:
		return failed(c.gone())
	default: // such as a server that takes every method
		return failed(found(servicesUnknown, hook.Note, "cannot list the plugin's services: "+err.Error()))
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
