package grpcplugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// earlyHealth is a health service that answers SERVING a number of times, and then
// DEADLINE_EXCEEDED before the deadline.
type earlyHealth struct {
	grpc_health_v1.UnimplementedHealthServer
	well atomic.Int32  // the number of SERVING answers left
	lead time.Duration // the time from a later answer to the deadline
}

func (h *earlyHealth) Check(ctx context.Context, _ *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if h.well.Add(-1) >= 0 {
		return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
	}
	if deadline, bounded := ctx.Deadline(); bounded {
		before := time.NewTimer(time.Until(deadline) - h.lead)
		defer before.Stop()
		<-before.C
	}
	return nil, status.Error(codes.DeadlineExceeded, "too slow")
}

// serveEarlyDeadline runs a plugin with an [earlyHealth]. arg contains well and lead, such as "1
// 50ms".
func serveEarlyDeadline(arg string) {
	h := new(earlyHealth)
	var well int32
	var lead string
	_, err := fmt.Sscan(arg, &well, &lead)
	if err == nil {
		h.lead, err = time.ParseDuration(lead)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
	h.well.Store(well)
	l := listen()
	s := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(s, h)
	printLine("\n")(l)
	if err := s.Serve(l); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// TestEarlyDeadline checks that a DEADLINE_EXCEEDED a moment before pyplug's deadline counts as the
// deadline, and that a much earlier one counts as the service's own answer.
func TestEarlyDeadline(t *testing.T) {
	ask := map[string]func(t *testing.T, limit time.Duration, lead string) error{
		"launch": func(t *testing.T, limit time.Duration, lead string) error {
			cfg := fake(t, "early deadline", "0 "+lead)
			cfg.HealthTimeout = limit
			_, err := grpcplugin.New(cfg).Launch(t.Context())
			return err
		},
		"probe": func(t *testing.T, limit time.Duration, lead string) error {
			inst := started(t, fake(t, "early deadline", "1 "+lead))
			ctx, cancel := hook.WithLimit(t.Context(), limit)
			defer cancel()
			return inst.Probe(ctx)
		},
	}
	for name, ask := range ask {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			kind := hook.Timeout
			if name == "launch" {
				kind = hook.Unhealthy
			}
			e := want(t, ask(t, 500*time.Millisecond, "40ms"), kind, "no answer from the health service within 500ms")
			if limit := (*hook.LimitError)(nil); !errors.As(e, &limit) || e.Status != nil {
				t.Errorf("got %#v", e)
			}
			e = want(t, ask(t, time.Minute, "59.95s"), hook.Unhealthy, "the health service answered DEADLINE_EXCEEDED: too slow")
			if e.Status == nil || e.Status.Code != "DEADLINE_EXCEEDED" {
				t.Errorf("got %#v", e)
			}
		})
	}
}

func TestHealthFails(t *testing.T) {
	runnertest.NothingLeft(t)
	e := want(t, started(t, zoo(t, "--health=none")).Health(t.Context()), hook.Unhealthy, "grpc.health.v1.Health is not served")
	if e.Reason != grpcplugin.ReasonNoHealth {
		t.Errorf("reason %q", e.Reason)
	}

	silent := started(t, fake(t, "early deadline", "1 0s"))
	ctx, cancel := hook.WithLimit(t.Context(), 100*time.Millisecond)
	defer cancel()
	want(t, silent.Health(ctx), hook.Timeout, "no answer from the health service within 100ms")
	silent.Stop(t.Context())
	want(t, silent.Health(t.Context()), hook.Canceled, "was stopped")

	killed := started(t, zoo(t))
	p, err := os.FindProcess(killed.Info().PID)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	<-killed.Done()
	if e := want(t, killed.Health(t.Context()), hook.Crash, "has exited"); e.Exit == nil {
		t.Error("no exit")
	}
}
