package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// stop ends the plugin and tells how that went.
func (c *check) stop(ctx context.Context) hook.Stage {
	began := time.Now()
	farewell := c.s.Farewell(ctx)
	err := c.s.Close(c.kill)
	took := time.Since(began)
	exit := c.s.Exit()
	d := details{"code": exit.Code}
	d.add("step", exit.Step)
	d.add("signal", exit.Signal)
	st := hook.Stage{Took: took, Message: ended(exit), Details: d}
	if farewell != nil {
		st.Findings = append(st.Findings, c.failAs(hook.Unhealthy, stopFailed, farewell)...)
	}
	switch {
	case exit.Step == "":
		if !c.crashed() { // else it was told
			st.Findings = append(st.Findings, c.gone()...)
		}
	case exit.Step == "SIGKILL":
		if c.kill.Err() == nil { // else it was not given the time
			st.Findings = append(st.Findings, c.killedAtStop())
		}
	case err != nil:
		st.Findings = append(st.Findings, c.failAs(hook.Unhealthy, stopFailed, err)...)
	case unclean(exit):
		st.Findings = append(st.Findings, found(stopUnclean, hook.Warning,
			"it ended with "+exit.String()+" when it was asked to end, as if it had crashed",
			"let what runs at its end not fail: see the last lines of its output"))
	}
	if len(exit.Left) > 0 {
		d["left"] = exit.Left
		st.Findings = append(st.Findings, left("it left processes behind, which were killed: ", exit.Left))
	}
	return st
}

// killedAtStop tells of a plugin that did not end in time.
func (c *check) killedAtStop() hook.Finding {
	fix := "end on SIGTERM, or where the controller's Shutdown is called"
	if c.s.GRPC() == nil {
		fix = "let no thread, no atexit function and no handler of SIGTERM keep the process"
	}
	return found(stopKilled, hook.Warning,
		fmt.Sprintf("it did not end within %s and was killed", c.s.Settings().Timeouts.Stop), fix, "--stop-timeout gives it longer")
}

// unclean tells whether a plugin ended in another way than it was asked to. After
// a signal any code will do.
func unclean(e hook.Exit) bool {
	if e.Signal != "" {
		return !slices.Contains([]string{"SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE"}, e.Signal)
	}
	return e.Step == "asked" && e.Code != 0
}

// left tells of processes.
func left(what string, names []string) hook.Finding {
	return found(leftBehind, hook.Warning, what+joined(names),
		"end what the plugin starts before it ends itself: a host does not, and waits for ever if they hold its pipes")
}

// crashed tells whether the plugin's death has been told.
func (c *check) crashed() bool {
	for _, st := range c.report.Stages {
		for _, f := range st.Findings {
			if f.Verdict == hook.Failure && f.Err != nil && f.Err.Kind == hook.Crash {
				return true
			}
		}
	}
	return false
}

// gone tells of a plugin that ended though nobody had asked it to. It is nearly
// gone at least, and its end is waited for.
func (c *check) gone() []hook.Finding {
	patience := time.NewTimer(time.Second)
	defer patience.Stop()
	err := &hook.Error{Kind: hook.Crash, Err: errors.New("it ended by itself, though nobody had asked it to")}
	select {
	case <-c.s.Done():
		exit := c.s.Exit()
		err.Exit = &exit
	case <-patience.C:
	}
	return c.fail(endedByItself, err)
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
