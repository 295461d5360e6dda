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

// again kills the plugin when it is idle and during a call, and has the supervisor
// start it anew. Each new one has to be as healthy as the first.
func (c *check) again(ctx context.Context) hook.Stage {
	var seen told
	cfg := c.o.Config
	cfg.GRPC.AnyHealth, cfg.Output = !c.healthy, nil
	// One start after each kill, without a delay, as the first one is made.
	cfg.Keep = runner.Keep{Workers: 1, Restart: "always", MaxRestarts: 2, Backoff: 1, BackoffMax: 1, HealthyAfter: 1, Preload: "off", Events: seen.take}
	seen.came = make(chan struct{}, 1)
	s, err := runner.Prepare(ctx, cfg)
	var k *runner.Kept
	if err == nil {
		k, err = s.Keep(ctx)
	}
	if err != nil {
		return hook.Stage{Findings: c.failAs(hook.Unhealthy, againFailed, err)}
	}
	defer func() { _ = k.Close(c.kill) }() // how it ends was told
	st := hook.Stage{Details: details{}}
	idle, _, err := rebirth(ctx, k, &seen, nil)
	st.Details["idle_ms"] = millis(idle)
	st.Message = "ready again " + shown(idle) + " after a kill"
	if len(c.o.Calls) == 0 {
		st.Message += "; --call names a hook to be killed in"
	} else if name := c.o.Calls[0].Hook; err == nil {
		var busy time.Duration
		var during bool
		busy, during, err = rebirth(ctx, k, &seen, &c.o.Calls[0])
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

// told is what became of a plugin last.
type told struct {
	mu   sync.Mutex
	last hook.Event
	came chan struct{} // has a token when something new was told
}

func (t *told) take(e hook.Event) {
	t.mu.Lock()
	t.last = e
	t.mu.Unlock()
	select {
	case t.came <- struct{}{}:
	default:
	}
}

// until waits for what settles a start later than that of a generation: that it is
// ready, or has failed.
func (t *told) until(ctx context.Context, after int) (hook.Event, error) {
	for {
		t.mu.Lock()
		e := t.last
		t.mu.Unlock()
		if e.Generation > after && e.To == hook.StateReady || e.To == hook.StateFailed {
			return e, nil
		}
		select {
		case <-t.came:
		case <-ctx.Done():
			return e, &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
		}
	}
}

// callStart is how long a call is given to reach the plugin before that is killed.
const callStart = 50 * time.Millisecond

// rebirth kills a plugin as something outside of us would, during a call if there
// is one, and tells how long it took until it was ready again, and whether the
// call was still under way.
func rebirth(ctx context.Context, k *runner.Kept, seen *told, call *hook.Call) (took time.Duration, during bool, err error) {
	var calling sync.WaitGroup
	defer calling.Wait()
	answered := make(chan struct{})
	if call != nil {
		calling.Go(func() { // ends with the plugin
			defer close(answered)
			within, cancel := context.WithTimeout(ctx, k.Session().Settings().Timeouts.Call)
			defer cancel()
			_, _ = k.Call(within, *call) // it is to be killed in
		})
		reached := time.NewTimer(callStart)
		defer reached.Stop()
		select {
		case <-answered:
		case <-reached.C:
			during = true
		}
	}
	before, began := k.Status().Generation, time.Now()
	if err := k.Crash(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, during, &hook.Error{Kind: hook.Internal, Err: err}
	}
	e, err := seen.until(ctx, before)
	took = time.Since(began)
	if err == nil && e.To == hook.StateFailed {
		err = whyFailed(ctx, k)
	}
	return took, during, err
}

// whyFailed is the error of the start by which a plugin was given up.
func whyFailed(ctx context.Context, k *runner.Kept) error {
	_, err := k.Describe(ctx)
	last := (*hook.Error)(nil)
	if e := asError(err); errors.As(e.Err, &last) { // that it was given up is not what the check found
		return last
	}
	return err
}
