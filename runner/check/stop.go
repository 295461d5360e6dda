package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// stop stops the plugin and reports how it ended.
func (c *check) stop(context.Context) hook.Stage {
	began := time.Now()
	farewell, err := c.s.Close(c.kill)
	took := time.Since(began)
	exit := c.s.inst.Exit()
	st := hook.Stage{Took: took, Message: ended(exit), Details: map[string]any{"code": exit.Code, "step": exit.Step, "signal": exit.Signal}}
	if g := c.s.GRPC(); g != nil && c.lacking[stageServices] == "" {
		if st.Details["controller"] = !g.LacksController(); g.LacksController() {
			st.Findings = append(st.Findings, found(noController, hook.Warning,
				"no plugin.GRPCController service: a host that stops the plugin waits 2 s and kills it; finally and atexit do not run",
				"serve its method Shutdown, and exit there"))
		}
	}
	if farewell != nil {
		st.Findings = append(st.Findings, c.findingAs(hook.Unhealthy, stopFailed, farewell))
	}
	switch {
	case exit.Step == "":
		if !c.crashed() { // else the report has it
			st.Findings = append(st.Findings, c.gone())
		}
	case exit.Step == "SIGKILL":
		if c.kill.Err() == nil { // else it had no time to end
			st.Findings = append(st.Findings, c.killedAtStop())
		}
	case err != nil:
		st.Findings = append(st.Findings, c.findingAs(hook.Unhealthy, stopFailed, err))
	case unclean(exit):
		st.Findings = append(st.Findings, found(stopUnclean, hook.Warning,
			"it exited with "+exit.String()+" when it was stopped, as if it had crashed",
			"fix what fails during the exit; the last lines of its output show it"))
	}
	if len(exit.Left) > 0 {
		st.Details["left"] = exit.Left
		st.Findings = append(st.Findings, left("it left processes behind, which pyplug killed: ", exit.Left))
	}
	return st
}

// killedAtStop returns the finding for a plugin that did not exit in time.
func (c *check) killedAtStop() hook.Finding {
	fix := "exit on SIGTERM, or when the host calls Shutdown"
	if c.s.GRPC() == nil {
		fix = "let no thread, atexit function or SIGTERM handler keep the process alive"
	}
	return found(stopKilled, hook.Warning,
		fmt.Sprintf("it did not exit within %s and was killed", c.s.Settings().Timeouts.Stop), fix, "or allow more time with --stop-timeout")
}

// unclean reports whether a plugin failed while it was stopped. After a signal, every exit
// code is fine.
func unclean(e hook.Exit) bool {
	if e.Signal != "" {
		return !slices.Contains([]string{"SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE"}, e.Signal)
	}
	return e.Step == "asked" && e.Code != 0
}

// left returns the finding for processes that remained.
func left(what string, names []string) hook.Finding {
	return found(leftBehind, hook.Warning, what+joined(names),
		"stop these processes before the plugin exits: a host does not, and it hangs if they keep its pipes open")
}

// crashed reports whether the report has a crash of the plugin.
func (c *check) crashed() bool {
	return c.reported(func(f hook.Finding) bool {
		return f.Verdict == hook.Failure && f.Err != nil && f.Err.Kind == hook.Crash
	})
}

// gone returns the finding for a plugin that exited although nobody stopped it. It waits for
// the exit, because the connection may end first.
func (c *check) gone() hook.Finding {
	timeout := time.NewTimer(time.Second)
	defer timeout.Stop()
	err := &hook.Error{Kind: hook.Crash, Err: errors.New("the plugin exited, although nothing stopped it")}
	select {
	case <-c.s.inst.Done():
		exit := c.s.inst.Exit()
		err.Exit = &exit
	case <-timeout.C:
	}
	return c.finding(endedByItself, err)
}

// ended describes how a plugin ended.
func ended(e hook.Exit) string {
	switch e.Step {
	case "":
		return "the plugin had already exited"
	case "asked":
		return "stopped cleanly"
	case "closed":
		return "stopped when the connection was closed"
	}
	return "stopped by " + e.Step
}

// again kills the plugin while it is idle, and during a call. After each kill it starts the
// plugin again. Each new process must be as healthy as the first.
func (c *check) again(ctx context.Context) hook.Stage {
	st := hook.Stage{Details: map[string]any{}}
	p, _, err := c.fresh(ctx)
	defer func() { _, _ = p.Close(c.kill) }() // the stage stop has reported how it ends
	if err == nil {
		err = p.Crash(ctx)
	}
	var took time.Duration
	if err == nil {
		p, took, err = c.fresh(ctx)
		st.Details["idle_ms"] = hook.Milliseconds(took)
		st.Message = "ready again " + schema.Span(took) + " after a kill"
	}
	if err == nil && len(c.o.Calls) > 0 {
		var how string
		if how, err = p.crashDuring(ctx, c.o.Calls[0]); err == nil {
			p, took, err = c.fresh(ctx)
		}
		st.Details["call_ms"] = hook.Milliseconds(took)
		st.Message += fmt.Sprintf(", and %s after %s", schema.Span(took), how)
	}
	if err != nil {
		return stageWith(c.findingAs(hook.Unhealthy, againFailed, err))
	}
	if len(c.o.Calls) == 0 {
		st.Message += "; use --call to kill it during a call"
	}
	return st
}

// callStart is the time that a call has to reach the plugin before the kill.
const callStart = 50 * time.Millisecond

// crashDuring kills the process during a call, or after it if the call answers first. how
// describes which. A call that ends the process itself needs no kill.
func (p *process) crashDuring(ctx context.Context, call hook.Call) (how string, err error) {
	answered := make(chan error, 1)
	go func() { // ends with the process
		_, err := p.Call(ctx, call)
		answered <- err
	}()
	reached := time.NewTimer(callStart)
	defer reached.Stop()
	select {
	case err := <-answered:
		answered <- nil
		if how = "another; " + call.Hook + " had answered before the kill"; err != nil && hook.AsError(err).Kind == hook.Crash {
			how = call.Hook + " ended it"
		}
	case <-reached.C:
		how = "one during " + call.Hook
	}
	err = p.Crash(ctx)
	<-answered
	return how, err
}
