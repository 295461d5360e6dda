package grpcplugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// probeLimit bounds a probe whose context has no deadline.
	probeLimit     = 2 * time.Second
	serviceUnknown = "SERVICE_UNKNOWN"
)

// ask asks the health service once. The error is a [*HealthError], a
// [*NoHealthError], the end of ctx, or the gRPC status.
func ask(ctx context.Context, cc *grpc.ClientConn, service string) error {
	answer, err := grpc_health_v1.NewHealthClient(cc).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	switch code := status.Code(err); {
	case ranOut(ctx, code):
		return ctx.Err()
	case code == codes.OK:
		return serving(service, answer.GetStatus())
	case code == codes.NotFound:
		return &HealthError{Service: service, Status: serviceUnknown}
	case code == codes.Unimplemented:
		return &NoHealthError{}
	}
	return err
}

// HealthOf asks the health of a service by its name, once: "SERVING",
// "NOT_SERVING", "UNKNOWN", or "SERVICE_UNKNOWN" when health is served but not
// for it. It may be called at any time, is no call, and condemns nothing; a
// context without a deadline is given two seconds. The error is an
// [*hook.Error]: Unhealthy, with a [*NoHealthError] when health is not served;
// Timeout, also while a server with one thread works on a call; Crash when the
// plugin has ended; Canceled.
func (i *Instance) HealthOf(ctx context.Context, service string) (status string, err error) {
	ctx, cancel := bounded(ctx, probeLimit)
	defer cancel()
	began := time.Now()
	err = ask(ctx, i.conn, service)
	var (
		bad  *HealthError
		none *NoHealthError
	)
	switch {
	case errors.As(err, &bad):
		return bad.Status, nil
	case errors.As(err, &none):
		return "", &hook.Error{Kind: hook.Unhealthy, Err: err}
	}
	if herr := i.verdict(ctx, err, began); herr != nil {
		return "", herr
	}
	return grpc_health_v1.HealthCheckResponse_SERVING.String(), nil
}

// bounded gives a context without a deadline a limit.
func bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

func serving(service string, s grpc_health_v1.HealthCheckResponse_ServingStatus) error {
	if s == grpc_health_v1.HealthCheckResponse_SERVING {
		return nil
	}
	return &HealthError{Service: service, Status: s.String()}
}

// watch follows the health service: each status it tells goes to tell, by name,
// until ctx ends, tell returns an error, or the stream breaks.
func watch(ctx context.Context, cc *grpc.ClientConn, service string, tell func(status string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := grpc_health_v1.NewHealthClient(cc).Watch(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	for err == nil {
		var answer *grpc_health_v1.HealthCheckResponse
		if answer, err = stream.Recv(); err != nil {
			break
		}
		if err := tell(answer.GetStatus().String()); err != nil {
			return err
		}
	}
	switch code := status.Code(err); {
	case errors.Is(err, io.EOF):
		return status.Error(codes.Unavailable, "the server ended the watch")
	case ranOut(ctx, code):
		return ctx.Err()
	case code == codes.Unimplemented:
		return &NoHealthError{}
	}
	return err
}

// unhealthy makes an error of what ask and watch return; nil of nil.
func unhealthy(ctx context.Context, err error, began time.Time) *hook.Error {
	var bad *HealthError
	var none *NoHealthError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &bad), errors.As(err, &none):
		return &hook.Error{Kind: hook.Unhealthy, Err: err}
	case ctx.Err() != nil:
		return hook.Ended(ctx, "", "no answer of the health service", began, true)
	}
	s, isStatus := status.FromError(err)
	if !isStatus {
		return &hook.Error{Kind: hook.Canceled, Err: err} // the receiver's own
	}
	return &hook.Error{Kind: hook.Unhealthy, Status: newStatus(s, nil),
		Err: fmt.Errorf("the health service answered %w", statusText(s))}
}
