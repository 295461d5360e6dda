package grpcplugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	// probeLimit bounds a probe whose context has no deadline.
	probeLimit     = 2 * time.Second
	serving        = "SERVING"
	serviceUnknown = "SERVICE_UNKNOWN"
)

// healthStatus asks the health service once and returns the name of the status. The name is
// SERVICE_UNKNOWN if the health service does not know the service. The error is a
// [*hook.Error] with reason no-health, the error of ctx, or a gRPC status.
func healthStatus(ctx context.Context, cc *grpc.ClientConn, service string) (string, error) {
	answer, err := grpc_health_v1.NewHealthClient(cc).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	switch code := status.Code(err); {
	case ranOut(ctx, err):
		return "", ctx.Err()
	case code == codes.OK:
		return answer.GetStatus().String(), nil
	case code == codes.NotFound:
		return serviceUnknown, nil
	}
	return "", noHealth(err)
}

// noHealth returns an error with reason no-health if err says that the server has no health
// service, else err.
func noHealth(err error) error {
	if !isUnimplemented(err) {
		return err
	}
	return &hook.Error{Kind: hook.Unhealthy, Reason: ReasonNoHealth, Err: errors.New("grpc.health.v1.Health is not served")}
}

// healthFailed returns the error for an error of healthStatus.
func healthFailed(ctx context.Context, err error) *hook.Error {
	own := asError(err)
	switch {
	case own != nil:
		return own
	case ctx.Err() != nil:
		e := hook.Ended(ctx, "", "no answer from the health service", true)
		if e.Kind == hook.Timeout {
			e.Reason = ReasonSilent
		}
		return e
	}
	s := status.Convert(err)
	e := &hook.Error{Kind: hook.Unhealthy, Err: fmt.Errorf("the health service answered %w", statusError(s))}
	return setStatus(e, s, nil)
}

// notServing returns the error for a status other than SERVING.
func notServing(service, status string) error {
	switch status {
	case serving:
		return nil
	case serviceUnknown:
		return &hook.Error{Kind: hook.Unhealthy, Reason: ReasonUnknownService,
			Hints: schema.Hints("in Python, call health_servicer.set(%q, HealthCheckResponse.SERVING); or name another service with %s", service, schema.Setting("service")),
			Err:   fmt.Errorf("health is served, but not for the service %q", service)}
	}
	return &hook.Error{Kind: hook.Unhealthy, Reason: ReasonNotServing,
		Err: fmt.Errorf("the health of the service %q is %s, want SERVING", service, status)}
}

// Health asks the plugin whether it is healthy. A plugin without a health service is an error. A
// plugin that does not answer while a call is in progress counts as healthy: a server with one
// thread answers after the call. Health is no call: it never marks the plugin as unresponsive. A
// context without a deadline gets two seconds. The error is a [*hook.Error]: Unhealthy; Timeout;
// Crash if the plugin has exited; Canceled.
func (i *Instance) Health(ctx context.Context) error {
	ctx, cancel := withLimit(ctx, probeLimit)
	defer cancel()
	busy := i.busy()
	name, err := healthStatus(ctx, i.conn, i.cfg.Service)
	if err == nil {
		return notServing(i.cfg.Service, name)
	}
	switch e := i.healthFailed(ctx, err); {
	case e.Reason == ReasonNoHealth && i.evidence.Unhealthy != nil:
		return i.evidence.Unhealthy // with a hint
	case e.Kind == hook.Timeout && (busy || i.busy()):
		return nil
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

// LacksHealth reports whether e says that a plugin does not serve the health that hosts ask
// for. pyplug starts such a plugin: go-plugin asks only if its host wants it. If the user
// named another service, its absence is an error.
func LacksHealth(e *hook.Error, service string) bool {
	return e.Reason == ReasonNoHealth || e.Reason == ReasonUnknownService && service == defaultService
}

func (i *Instance) busy() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.running > 0
}

// responds reports whether the plugin answers a health check within a limit. Any answer
// counts, even that there is no health service.
func (i *Instance) responds(limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_, err := healthStatus(ctx, i.conn, i.cfg.Service)
	return err == nil || ctx.Err() == nil && !lostConnection(err)
}

// healthFailed returns the error for an error of healthStatus. A broken connection
// is a crash if the process exits and pyplug did not stop it.
func (i *Instance) healthFailed(ctx context.Context, err error) *hook.Error {
	if ctx.Err() == nil && lostConnection(err) && i.exits() {
		return i.exitError("")
	}
	return healthFailed(ctx, err)
}

// withLimit adds a limit to a context without a deadline.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return hook.WithLimit(ctx, limit)
}
