package check

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// The stages that start the plugin once more.

// another starts the plugin by a session of its own. What it prints is kept for
// its error alone.
func (c *check) another(ctx context.Context, change func(*runner.Config)) (*runner.Session, error) {
	cfg := c.o.Config
	cfg.GRPC.AnyHealth = true
	cfg.Output = nil
	change(&cfg)
	return runner.Open(ctx, cfg)
}

// cookie starts the plugin without the magic cookie, which it should refuse.
func (c *check) cookie(ctx context.Context) hook.Stage {
	program := c.s.Program()
	if program.CookieKey == "" {
		return hook.Stage{Message: "none was named", Findings: []hook.Finding{found(cookieUnknown, hook.Note,
			"no magic cookie was named, so that it was not tried without",
			"--cookie KEY=VALUE, or cookie-key and cookie-value in the manifest, name the one of its host")}}
	}
	if len(c.o.Host) > 0 && !slices.Contains(c.o.Skip, stageHost) {
		c.hostAhead(ctx)
	}
	limit := 2*c.s.Evidence().Handshake + 2*time.Second
	s, err := c.another(ctx, func(cfg *runner.Config) {
		cfg.GRPC.NoCookie = true
		// The caller may be a host itself.
		cfg.Environ = unset(cfg.Environ, program.CookieKey)
		cfg.Env = unset(cfg.Env, program.CookieKey)
		cfg.Timeouts.Start = min(limit, c.s.Settings().Timeouts.Start)
	})
	_ = s.Close(c.kill) // how it ends was told
	e := asError(err)
	seen := "it runs without the magic cookie " + program.CookieKey + ", as if a host had started it"
	switch {
	case err == nil:
	case e.Kind == hook.Canceled || e.Kind == hook.Internal:
		c.ended = e
		return hook.Stage{}
	case e.Kind == hook.Start && e.Exit != nil:
		return hook.Stage{Message: "it refuses to run without it: " + e.Exit.String()}
	case e.Kind == hook.Start:
		return hook.Stage{Message: "it refuses to run without it"}
	default:
		seen = "without the magic cookie " + program.CookieKey + " it goes on instead of ending: " + e.Error()
	}
	return hook.Stage{Findings: []hook.Finding{found(cookieUnchecked, hook.Warning, seen,
		"compare the variable "+program.CookieKey+" first of all, and end with a word about hosts when it is another")}}
}

// unset is an environment without a variable.
func unset(env []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool { return e == name || strings.HasPrefix(e, name+"=") })
}

// again kills the plugin when it is idle and during a call, and starts it anew.
// Each new one has to be as healthy as the first.
func (c *check) again(ctx context.Context) hook.Stage {
	st := hook.Stage{Details: details{}}
	change := func(cfg *runner.Config) { cfg.GRPC.AnyHealth = !c.healthy }
	s, err := c.another(ctx, change)
	defer func() { _ = s.Close(c.kill) }() // how it ends was told
	rebirth := func(call *hook.Call) (took time.Duration, during bool) {
		if err != nil {
			return 0, false
		}
		old := s
		during, err = killIn(ctx, old, call)
		_ = old.Close(c.kill) // it is dead
		if err != nil {
			return 0, false
		}
		began := time.Now()
		s, err = c.another(ctx, change)
		return time.Since(began), during
	}
	idle, _ := rebirth(nil)
	st.Details["idle_ms"] = millis(idle)
	st.Message = "ready again " + shown(idle) + " after a kill"
	if len(c.o.Calls) == 0 {
		st.Message += "; --call names a hook to be killed in"
	} else if name := c.o.Calls[0].Hook; err == nil {
		busy, during := rebirth(&c.o.Calls[0])
		st.Details["call_ms"] = millis(busy)
		where := " after one during " + name
		if !during {
			where = " after another; " + name + " had answered before the kill"
		}
		st.Message += ", and " + shown(busy) + where
	}
	if err != nil {
		return hook.Stage{Findings: c.failAs(hook.Unhealthy, againFailed, err)}
	}
	return st
}

// callStart is how long a call is given to reach the plugin before that is killed.
const callStart = 50 * time.Millisecond

// killIn kills a plugin as something outside of us would, during a call if there
// is one, and tells whether the call was still under way. It returns when the
// plugin is gone.
func killIn(ctx context.Context, s *runner.Session, call *hook.Call) (during bool, err error) {
	var calling sync.WaitGroup
	answered := make(chan struct{})
	if call != nil {
		calling.Go(func() { // ends with the plugin
			defer close(answered)
			within, cancel := context.WithTimeout(ctx, s.Settings().Timeouts.Call)
			defer cancel()
			_, _ = s.Call(within, *call) // it is to be killed in
		})
		reached := time.NewTimer(callStart)
		defer reached.Stop()
		select {
		case <-answered:
		case <-reached.C:
			during = true
		}
	}
	if err := s.Crash(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return false, &hook.Error{Kind: hook.Internal, Err: err}
	}
	select {
	case <-s.Done():
	case <-ctx.Done():
		return false, &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
	}
	calling.Wait()
	return during, nil
}
