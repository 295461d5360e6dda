package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// The stages that end the plugin, and start it again.

// stop ends the plugin and tells how that went.
func (c *check) stop(context.Context) hook.Stage {
	began := time.Now()
	err := c.s.Close(c.kill)
	took := time.Since(began)
	exit := c.s.Exit()
	st := hook.Stage{Took: took, Message: ended(exit), Details: details{"took_ms": millis(took)}}
	st.Details["step"] = exit.Step
	if exit.Step == "SIGKILL" {
		fix := "end on SIGTERM, or where the controller's Shutdown is called"
		if c.s.GRPC() == nil {
			fix = "let no thread, no atexit function and no handler of SIGTERM keep the process"
		}
		st.Findings = append(st.Findings, found(stopKilled, hook.Warning,
			fmt.Sprintf("it did not end within %s and was killed", c.s.Settings().Timeouts.Stop), fix, "--stop-timeout gives it longer"))
		err = nil
	}
	if len(exit.Left) > 0 {
		st.Details["left"] = exit.Left
		st.Findings = append(st.Findings, found(leftBehind, hook.Warning,
			"it left processes behind, which were killed: "+joined(exit.Left),
			"end what the plugin starts before it ends itself: a host does not, and waits for ever if they hold its pipes"))
	}
	if err != nil {
		st.Findings = append(st.Findings, c.failAs(hook.Unhealthy, c.s, stopFailed, err)...)
	}
	return st
}

// ended says by what a plugin ended.
func ended(e hook.Exit) string {
	switch e.Step {
	case "":
		return "it had ended by itself"
	case "asked":
		return "it went when it was asked"
	case "closed":
		return "it went when the connection was closed"
	}
	return "it went by " + e.Step
}

// another starts the plugin once more, by a session of its own.
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
		if named(program.Env, program.CookieKey) { // the caller is a host itself
			cfg.Env = append(slices.Clone(cfg.Env), program.CookieKey+"=")
		}
		cfg.Timeouts.Start = min(limit, c.s.Settings().Timeouts.Start)
	})
	if err == nil {
		_ = s.Close(c.kill) // how it ends was told
		return hook.Stage{Findings: []hook.Finding{found(cookieUnchecked, hook.Warning,
			"it runs without the magic cookie "+program.CookieKey+", as if a host had started it",
			"compare the variable "+program.CookieKey+" first of all, and end with a word about hosts when it is another")}}
	}
	e := asError(err)
	switch {
	case e.Kind == hook.Canceled || e.Kind == hook.Internal:
		c.fail(s, cookieUnchecked, err)
		return hook.Stage{}
	case e.Kind == hook.Start && e.Exit != nil:
		return hook.Stage{Message: "it refuses to run without it: " + exitWord(*e.Exit)}
	case e.Kind == hook.Start:
		return hook.Stage{Message: "it refuses to run without it"}
	}
	return hook.Stage{Findings: []hook.Finding{found(cookieUnchecked, hook.Warning,
		"without the magic cookie "+program.CookieKey+" it goes on instead of ending: "+e.Error(),
		"compare the variable "+program.CookieKey+" first of all, and end with a word about hosts when it is another")}}
}

// named tells whether an environment has a variable.
func named(env []string, name string) bool {
	return slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
}

func exitWord(e hook.Exit) string {
	if e.Signal != "" {
		return e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// again kills the plugin when it is idle and during a call, and starts it anew.
func (c *check) again(ctx context.Context) hook.Stage {
	st := hook.Stage{Details: details{}}
	s, err := c.another(ctx, func(*runner.Config) {})
	defer func() { _ = s.Close(c.kill) }() // how it ends was told
	if err != nil {
		st.Findings = c.failAs(hook.Unhealthy, s, againFailed, err)
		return st
	}
	idle, err := c.reborn(ctx, &s, nil)
	if err != nil {
		st.Findings = c.failAs(hook.Unhealthy, s, againFailed, err)
		return st
	}
	st.Message = "ready again " + shown(idle) + " after a kill"
	st.Details["idle_ms"] = millis(idle)
	if len(c.o.Calls) == 0 {
		st.Message += "; --call names a hook to be killed in"
		return st
	}
	busy, err := c.reborn(ctx, &s, &c.o.Calls[0])
	if err != nil {
		st.Findings = c.failAs(hook.Unhealthy, s, againFailed, err)
		return st
	}
	st.Message += ", and " + shown(busy) + " after one during " + c.o.Calls[0].Hook
	st.Details["call_ms"] = millis(busy)
	return st
}

// reborn kills the plugin, during a call if there is one, puts a new session in
// its place, and returns how long that took from the kill until it was ready.
func (c *check) reborn(ctx context.Context, s **runner.Session, call *hook.Call) (time.Duration, error) {
	old := *s
	answered := make(chan struct{})
	go func() { // ends with the call, which the kill ends
		defer close(answered)
		if call != nil {
			within, cancel := context.WithTimeout(ctx, old.Settings().Timeouts.Call)
			defer cancel()
			_, _ = old.Call(within, *call) // it is to be killed in
		}
	}()
	if call != nil {
		select { // it is likely to be with the plugin then
		case <-answered:
		case <-time.After(5 * time.Millisecond):
		}
	}
	began := time.Now()
	if err := kill(old.Info().PID); err != nil {
		return 0, &hook.Error{Kind: hook.Internal, Err: err}
	}
	select {
	case <-old.Done():
	case <-ctx.Done():
		return 0, &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
	}
	<-answered
	next, err := c.another(ctx, func(*runner.Config) {})
	*s = next
	return time.Since(began), err
}

// kill ends a process as something outside of us would.
func kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill of process %d: %w", pid, err)
	}
	return nil
}
