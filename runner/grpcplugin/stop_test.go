package grpcplugin_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestPythonEnds checks that the exit names the step that ended a plugin, and the children that it
// left. A child is left only if Shutdown ended the plugin, because signals go to the whole process
// group.
func TestPythonEnds(t *testing.T) {
	stop := func() context.Context { return t.Context() }
	kill := func() context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx
	}
	for name, test := range map[string]struct {
		args []string
		ctx  func() context.Context
		step string
		left string
	}{
		"controller":           {[]string{"--controller"}, stop, "asked", ""},
		"controller and child": {[]string{"--controller", "--child"}, stop, "asked", "sleep (pid "},
		"signal and child":     {[]string{"--child"}, stop, "SIGINT", ""},
		"kill and child":       {[]string{"--child"}, kill, "SIGKILL", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("windows has no signals, and does not report what was left")
			}
			runnertest.NothingLeft(t)
			inst := started(t, zoo(t, test.args...))
			inst.Stop(test.ctx())
			exit := inst.Exit()
			if exit.Step != test.step || !exit.Stopped {
				t.Errorf("stopped %v by %q, want by %q", exit.Stopped, exit.Step, test.step)
			}
			if left := strings.Join(exit.Left, ", "); !strings.HasPrefix(left, test.left) || (left == "") != (test.left == "") {
				t.Errorf("left %q, want %q", left, test.left)
			}
		})
	}
	t.Run("by itself", func(t *testing.T) {
		runnertest.NothingLeft(t)
		inst := started(t, zoo(t))
		inst.Call(t.Context(), hook.Call{Hook: "Leave", Args: hook.Args{JSON: []byte(`{"n":3}`)}})
		<-inst.Done()
		if exit := inst.Exit(); exit.Step != "" || exit.Stopped || exit.Code != 3 {
			t.Errorf("exit %+v, want one by itself", exit)
		}
	})
}

// TestStopPatient checks that no signal is sent while Shutdown runs, or soon after it answered with
// an error, as in a host of go-plugin.
func TestStopPatient(t *testing.T) {
	for arg, says := range map[string]string{"runs long": "", "fails": "INTERNAL: Failed to serialize response!"} {
		t.Run(arg, func(t *testing.T) {
			t.Parallel()
			inst := started(t, fake(t, "slow", arg))
			inst.Stop(t.Context())
			if exit := inst.Exit(); exit.Step != "asked" || exit.Code != 0 {
				t.Errorf("exit %+v, want one by Shutdown", exit)
			}
			got := ""
			if err := inst.ShutdownError(); err != nil {
				got = err.Error()
			}
			if got != says || inst.LacksController() {
				t.Errorf("Shutdown answered %q, want %q", got, says)
			}
		})
	}
}

// TestStopGraceful stops a server that waits for the end of its streams.
func TestStopGraceful(t *testing.T) {
	runnertest.NothingLeft(t)
	inst := started(t, fake(t, "graceful", ""))
	inst.Stop(t.Context())
	if exit := inst.Exit(); exit.Step != "asked" || exit.Code != 0 {
		t.Errorf("exit %+v, want one by Shutdown", exit)
	}
}
