package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// stop stops the plugin and reports how it ended.
func (c *check) stop(context.Context) hook.Stage {
	began := time.Now()
	farewell, err := c.s.Close(c.kill)
	took := time.Since(began)
	exit := c.s.Exit()
	st := hook.Stage{Findings: c.program(), Took: took, Message: ended(exit), Details: map[string]any{"code": exit.Code, "step": exit.Step, "signal": exit.Signal}}
	if g := c.s.GRPC(); g != nil && c.lacking[stageConnect] == "" {
		if st.Details["controller"] = !g.LacksController(); g.LacksController() {
			st.Findings = append(st.Findings, found(noController, hook.Warning,
				"no plugin.GRPCController service: a host that stops the plugin waits 2 s and kills it; finally and atexit do not run",
				"serve its method Shutdown, and exit there"))
		} else if err := g.ShutdownError(); err != nil {
			st.Findings = append(st.Findings, found(shutdownError, hook.Note,
				"plugin.GRPCController/Shutdown answers "+err.Error()+"; a host ignores it and waits 2 s for the exit",
				"return the empty message, as every method must: in Python grpc_controller_pb2.Empty(), not None"))
		}
	}
	if farewell != nil {
		st.Findings = append(st.Findings, c.failAs(hook.Unhealthy, stopFailed, farewell))
	}
	switch {
	case exit.Step == "":
		if !c.crashed() { // otherwise the report already has the crash
			st.Findings = append(st.Findings, c.gone())
		}
	case exit.Step == "SIGKILL":
		// If the context kill ended, the plugin had no time to exit. Without signals and a
		// controller, nothing asked it to exit.
		if c.kill.Err() == nil && (proc.HasSignals || st.Details["controller"] != false) {
			st.Findings = append(st.Findings, c.killedAtStop())
		}
	case err != nil:
		st.Findings = append(st.Findings, c.failAs(hook.Unhealthy, stopFailed, err))
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

// killedAtStop returns the finding about a plugin that did not end in time.
func (c *check) killedAtStop() hook.Finding {
	fix := "exit on SIGTERM, or when the host calls Shutdown"
	switch pipe := c.s.GRPC() == nil; {
	case pipe && proc.HasSignals:
		fix = "let no thread, atexit function or SIGTERM handler keep the process alive"
	case pipe:
		fix = "let no thread or atexit function keep the process alive"
	case !proc.HasSignals:
		fix = "exit when the host calls Shutdown"
	}
	return found(stopKilled, hook.Warning,
		fmt.Sprintf("it did not exit within %s and was killed", c.s.Config.Timeouts.Stop), fix, "allow more time with --stop-timeout")
}

// unclean reports whether a plugin ended as if it had crashed: by an unexpected signal, or with an
// exit code other than 0 although pyplug sent no signal. After a signal from pyplug, any exit code
// is fine.
func unclean(e hook.Exit) bool {
	if e.Signal != "" {
		return !slices.Contains([]string{"SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE"}, e.Signal)
	}
	return e.Step == "asked" && e.Code != 0
}

// left returns the finding about processes that the plugin left behind.
func left(what string, names []string) hook.Finding {
	return found(leftBehind, hook.Warning, what+schema.Joined(names),
		"stop these processes before the plugin exits: a host does not, and it hangs if they keep its pipes open")
}

// crashed reports whether the report already has a crash of the plugin.
func (c *check) crashed() bool {
	return c.reported(func(f hook.Finding) bool {
		return f.Verdict == hook.Failure && f.Err != nil && f.Err.Kind == hook.Crash
	})
}

// gone returns the finding about a plugin that exited although nobody stopped it. If it has not
// exited yet, gone waits for that for up to a second.
func (c *check) gone() hook.Finding {
	err := &hook.Error{Kind: hook.Crash, Err: errors.New("the plugin exited, although nothing stopped it")}
	if hook.Within(c.s.Done(), time.Second) {
		exit := c.s.Exit()
		err.Exit = &exit
	}
	return c.fail(endedByItself, err)
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
	case "SIGKILL":
		if !proc.HasSignals {
			return "killed"
		}
	}
	return "stopped by " + e.Step
}
