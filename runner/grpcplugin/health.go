package grpcplugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// probeLimit is the timeout of a probe whose context has no deadline.
const probeLimit = 2 * time.Second

// askHealth asks the health service once. The error is of kind Unhealthy, Timeout or Canceled.
// lost reports whether the connection broke.
func (i *Instance) askHealth(ctx context.Context) (_ *hook.Error, lost bool) {
	service := i.cfg.Service
	request := &grpc_health_v1.HealthCheckRequest{Service: service}
	answer, err := grpc_health_v1.NewHealthClient(i.conn).Check(ctx, request)
	e, s, is := &hook.Error{Kind: hook.Unhealthy}, status.Convert(err), answer.GetStatus()
	switch {
	case err == nil && is == grpc_health_v1.HealthCheckResponse_SERVING:
		return nil, false
	case err == nil && is == grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN, s.Code() == codes.NotFound:
		e.Reason, e.Err = ReasonUnknownService, fmt.Errorf("health is served, but not for the service %q", service)
		e.Hints = schema.Hints("set it to SERVING, in Python with health_servicer.set(%q, HealthCheckResponse.SERVING); or name another service with %s",
			service, schema.Setting("service"))
	case err == nil:
		e.Reason, e.Err = ReasonNotServing, fmt.Errorf("the health of the service %q is %s, expected SERVING", service, is)
	case isUnimplemented(err):
		e.Reason, e.Err = ReasonNoHealth, errors.New("grpc.health.v1.Health is not served")
	case ranOut(ctx, err), ctx.Err() != nil:
		if e = unanswered(ctx, "no answer from the health service", true); e.Kind == hook.Timeout {
			e.Reason = ReasonSilent
		}
	default:
		e.Err = fmt.Errorf("the health service answered %w", statusError(s))
		return setStatus(e, s, nil), lostConnection(err)
	}
	return e, false
}

// Health asks the plugin whether it is healthy. A plugin without a health service is an error. A
// context without a deadline gets two seconds. The error is a [*hook.Error] of kind Unhealthy,
// Timeout, Canceled, or Crash if the plugin has exited.
func (i *Instance) Health(ctx context.Context) error {
	ctx, cancel := withLimit(ctx, probeLimit)
	defer cancel()
	switch e, lost := i.askHealth(ctx); {
	case e == nil:
		return nil
	case lost && i.exits(): // a crash, unless pyplug stopped it
		return i.exitError("")
	case e.Reason == ReasonNoHealth && i.evidence.Unhealthy != nil:
		return i.evidence.Unhealthy // the start's error has a hint
	default:
		return e
	}
}

// Probe is like Health, but a plugin without a health service counts as healthy.
func (i *Instance) Probe(ctx context.Context) error {
	err := i.Health(ctx)
	if e := asError(err); e != nil && LacksHealth(e, i.cfg.Service) {
		return nil
	}
	return err
}

// LacksHealth reports whether e says that a plugin does not serve the health that hosts ask for.
// pyplug starts such a plugin, because go-plugin asks for health only if its host wants that. If
// the user named another service, its absence is an error.
func LacksHealth(e *hook.Error, service string) bool {
	return e.Reason == ReasonNoHealth || e.Reason == ReasonUnknownService && service == defaultService
}

// withLimit adds a limit to a context without a deadline.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return hook.WithLimit(ctx, limit)
}
