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

// hostServices lists the services that hosts of go-plugin use besides the plugin's own.
// One of the methods is enough. The controller is not among them: some plugins wrap every
// method, and asking for it would end them. The stage stop reports it.
var hostServices = []hostService{
	{
		"stdio", []string{"/plugin.GRPCStdio/StreamStdio"}, noStdio,
		"no plugin.GRPCStdio service: the host's log has a warning of go-plugin instead of what the plugin prints after the handshake",
		"serve its method StreamStdio, or log to standard error",
	}, {
		"broker", []string{"/plugin.GRPCBroker/StartStream"}, noBroker,
		"no plugin.GRPCBroker service: a host cannot offer services to the plugin; few hosts do", "",
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
	asked := slices.Clone(hostServices)
	leftOut := len(c.o.Calls) > 0 // some brokers do not survive the question, and a call may need one
	if leftOut {
		asked = slices.DeleteFunc(asked, func(s hostService) bool { return s.id == noBroker })
	}
	var names, methods []string
	for _, s := range asked {
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
	for _, s := range asked {
		has := slices.ContainsFunc(s.methods, func(m string) bool { return served[m] })
		if st.Details[s.name] = has; has {
			there = append(there, s.name)
			continue
		}
		f := found(s.id, hook.Note, s.costs)
		if s.fix != "" {
			f.Fix = []string{s.fix}
		}
		st.Findings = append(st.Findings, f)
	}
	st.Message = "none of " + joined(names) + " is served"
	if len(there) > 0 {
		st.Message = "served: " + joined(there)
	}
	if leftOut {
		st.Message += "; check without --call whether there is a broker"
	}
	return st
}
