package check

import (
	"context"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// again kills the plugin when it is idle and during a call, and starts it again each time. Each new
// process must be as healthy as the first.
func (c *check) again(ctx context.Context) hook.Stage {
	st := hook.Stage{Details: map[string]any{}}
	p, _, err := c.fresh(ctx)
	defer func() { _, _ = p.Close(c.kill) }() // the stage stop has already reported how the plugin stops
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
		st.Message += fmt.Sprintf(" and %s after %s", schema.Span(took), how)
	}
	if err != nil {
		return failed(c.failAs(hook.Unhealthy, againFailed, err))
	}
	if len(c.o.Calls) == 0 {
		st.Message += "; use --call to kill it during a call"
	}
	return st
}

// callStart is the time between a call and the kill, so that the call reaches the plugin.
const callStart = 50 * time.Millisecond

// crashDuring kills the process during a call, and returns how it ended. If the call returns
// earlier, crashDuring still kills the process. A call may also end the process itself.
func (p *process) crashDuring(ctx context.Context, call hook.Call) (how string, err error) {
	answered := make(chan error, 1)
	go func() { // ends with the process
		_, err := p.Call(ctx, call) // the kill ends it
		answered <- err
	}()
	select {
	case err := <-answered:
		answered <- nil
		if how = "a second kill; " + call.Hook + " answered before that kill"; err != nil && hook.AsError(err).Kind == hook.Crash {
			how = call.Hook + " ended it"
		}
	case <-time.After(callStart):
		how = "one during " + call.Hook
	}
	err = p.Crash(ctx)
	<-answered
	return how, err
}
