package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	// healthyLimit is how long a started plugin may take to become healthy.
	healthyLimit = 10 * time.Second
	// healthyAgain is the time between two probes of such a plugin.
	healthyAgain = time.Second
)

// awaitHealthy waits until the plugin's first process is healthy. If that takes longer than 10 s or
// than the start timeout, the start fails. While the plugin is not healthy, callers get the reason
// as an error.
func (s *Service) awaitHealthy(ctx context.Context, inst hook.Instance) error {
	t := s.Keeper.Config.Timeouts
	limit, cancel := context.WithTimeout(ctx, min(healthyLimit, t.Start))
	defer cancel()
	for why := error(nil); ; {
		probe, cancel := hook.WithLimit(limit, t.Probe)
		err := inst.Probe(probe)
		cancel()
		if err == nil {
			return nil
		}
		if why == nil || limit.Err() == nil { // otherwise the limit interrupted the probe
			why = err
			s.server.Unhealthy(hook.NewError(hook.Unhealthy, fmt.Errorf("not healthy yet: %w", why)))
		}
		select {
		case <-time.After(healthyAgain):
		case <-inst.Done():
			exit := inst.Exit()
			return &hook.Error{Kind: hook.Start, Exit: &exit, Err: errors.New("the plugin exited before it was healthy")}
		case <-limit.Done():
			if ctx.Err() != nil {
				return hook.Ended(ctx, "", "the plugin was not healthy", false)
			}
			e := hook.NewError(hook.Unhealthy, fmt.Errorf("not healthy within %s: %w", schema.Span(min(healthyLimit, t.Start)), why))
			if hook.AsError(why).Kind == hook.Timeout {
				e.Hints = nil // the hints are for calls
			}
			return e
		}
	}
}
