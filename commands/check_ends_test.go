//go:build linux

package commands_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/settings"
)

// endsWhen exits when the file that the variable END names exists.
const endsWhen = `
import os, threading, time
def wait():
    while not os.path.exists(os.environ["END"]):
        time.sleep(0.005)
    os._exit(9)
threading.Thread(target=wait, daemon=True).start()
def work():
    return "done"
`

// TestCheckEndedByItself checks that a plugin that exits by itself after it was ready does not
// pass, whichever stage detects it first.
func TestCheckEndedByItself(t *testing.T) {
	for _, c := range []struct {
		transport string
		after     string // the stage after which it ends
		skip      []string
		want      string // the stage that reports it
	}{
		{"pipe", "health", nil, "hooks"},
		{"pipe", "health", []string{"hooks"}, "stop"},
		{"pipe", "hooks", nil, "stop"},
		{"grpc", "health", nil, "hooks"},
		{"grpc", "health", []string{"hooks"}, "stop"},
		{"grpc", "hooks", nil, "stop"},
	} {
		t.Run(strings.Join(append([]string{c.transport, c.after, "without"}, c.skip...), " "), func(t *testing.T) {
			runnertest.NothingLeft(t)
			end := filepath.Join(t.TempDir(), "end")
			dir := written(t, map[string]string{"plugin.py": endsWhen})
			cfg := plan.Config{
				Plugin: filepath.Join(dir, "plugin.py"), Settings: settings.Settings{Transport: c.transport},
				Environ: append(os.Environ(), "PYPLUG_PYTHON="+runnertest.Python(t), "END="+end), Cwd: dir,
			}
			if c.transport == "grpc" { // the fake Python
				dir = written(t, map[string]string{"plugin.py": "import grpc\nserve(\"SERVING\")\n" + spoken})
				if err := makeFake(dir); err != nil {
					t.Fatal(err)
				}
				cfg.Plugin, cfg.Environ = filepath.Join(dir, "plugin.py"), append(cfg.Environ, "PYPLUG_PYTHON=")
			}
			var keeper *runner.Keeper
			report, err := check.Run(t.Context(), context.Background(), check.Options{
				Config: cfg, Skip: c.skip,
				Prepared: func(k *runner.Keeper) { keeper = k },
				Ended: func(st hook.Stage) {
					if st.Name != c.after {
						return
					}
					pid := keeper.Newest().PID
					err := os.WriteFile(end, nil, 0o600)
					if c.transport == "grpc" { // the fake Python reads no file
						err = syscall.Kill(pid, syscall.SIGKILL)
					}
					if err != nil {
						t.Error(err)
					}
					runnertest.Until(t, "it is gone", func() bool { return syscall.Kill(pid, 0) != nil })
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			f := report.FirstFailure()
			if f == nil {
				t.Fatalf("it passes: %+v", report.Stages)
			}
			if f.ID != "ended-by-itself" || f.Kind != hook.Crash || len(f.Fix) == 0 || f.Err == nil || f.Err.Exit == nil ||
				f.Err.Exit.Code != 9 && f.Err.Exit.Signal != "SIGKILL" {
				t.Errorf("got %+v with %+v", f, f.Err)
			}
			for _, st := range report.Stages {
				if n := len(st.Findings); st.Name == c.want && n != 1 || st.Name != c.want && st.Verdict == hook.Failure {
					t.Errorf("%s has %d findings, want one of %s alone: %+v", st.Name, n, c.want, report.Stages)
				}
			}
		})
	}
}

// TestCheckBegan checks that a check reports each stage that begins, with its limit.
func TestCheckBegan(t *testing.T) {
	runnertest.NothingLeft(t)
	dir := written(t, map[string]string{"plugin.py": "def hook(): pass\n"})
	var began []string
	_, err := check.Run(t.Context(), context.Background(), check.Options{
		Config: plan.Config{
			Plugin: filepath.Join(dir, "plugin.py"), Settings: settings.Settings{Timeouts: settings.Timeouts{Call: 7 * time.Second}},
			Environ: append(os.Environ(), "PYPLUG_PYTHON="+runnertest.Python(t)), Cwd: dir,
		},
		Began: func(stage string, limit time.Duration) { began = append(began, fmt.Sprint(stage, " ", limit)) },
	})
	want := []string{"plugin 0s", "interpreter 0s", "source 0s", "launch 10m0s", "handshake 10m0s", "health 2s", "hooks 7s", "stop 5s"}
	if err != nil || !slices.Equal(began, want) {
		t.Errorf("%q, %v, want %q", began, err, want)
	}
}

var moments = flag.Int("moments", 4, "how many moments TestCheckDies has plugins die at")

// TestCheckDies checks that a plugin that dies soon after its handshake does not pass, whenever it
// dies. Most of these plugins outlive every request of pyplug and of its host.
func TestCheckDies(t *testing.T) {
	t.Parallel()
	const last, atOnce = 600 * time.Millisecond, 4
	env := []string{"PYPLUG_PYTHON=" + runnertest.GRPCIO(t), "PYTHONDONTWRITEBYTECODE=1"}
	sessions := make([]*session, *moments)
	for i := range sessions {
		for ahead := i; ahead < min(i+atOnce, *moments); ahead++ {
			if sessions[ahead] == nil {
				moment := last * time.Duration(ahead+1) / time.Duration(*moments)
				quirk := fmt.Sprintf("QUIRK=dies after %.3f", moment.Seconds())
				sessions[ahead] = startCheck(t, append(env, quirk), "--cookie", "ZOO_COOKIE=monkey", "testdata/plugins/grpc/quirks.py")
			}
		}
		c := sessions[i].checked(t)
		failures := c.told("failure")
		if c.ExitCode != 8 && c.ExitCode != 5 || len(failures) == 0 ||
			!strings.HasSuffix(failures[0], " ended-by-itself") && failures[0] != "launch failure start-failed" {
			t.Errorf("%d of %d: exit code %d with %q, want one that says that it exited", i+1, *moments, c.ExitCode, failures)
		}
	}
}

// TestCheckEnds checks the findings about a process that does not end cleanly, and about calls of
// the manifest that fail after the start or before the stop.
func TestCheckEnds(t *testing.T) {
	t.Parallel()
	const hangs = "import atexit, time\natexit.register(time.sleep, 3600)\n"
	const hooks = "import os\ndef raises():\n    raise ValueError('no licence')\ndef leaves():\n    os._exit(9)\n"
	for name, c := range map[string]struct {
		plugin, manifest string
		flags            []string
		code             int
		want             []string
		says             string // the message of the first stage
	}{
		"with code 3": {"import atexit, os\natexit.register(os._exit, 3)\n" + hooks, "", nil, 0, []string{"stop warning stop-unclean"}, ""},
		"with code 3, strictly": {"import atexit, os\natexit.register(os._exit, 3)\n" + hooks, "", []string{"--strict"}, 7,
			[]string{"stop warning stop-unclean"}, ""},
		"a shutdown call raises, then it hangs": {hangs + hooks, "[[shutdown]]\nhook = \"raises\"\n", []string{"--stop-timeout", "300ms"}, 7,
			[]string{"stop failure stop-failed", "stop warning stop-killed"}, "no licence"},
		"a bootstrap call raises": {hooks, "[[bootstrap]]\nhook = \"raises\"\n", nil, 1,
			[]string{"hooks failure call-failed"}, "bootstrap raises: ValueError: no licence"},
		"a bootstrap call ends it": {hooks, "[[bootstrap]]\nhook = \"leaves\"\n", nil, 8,
			[]string{"hooks failure call-failed"}, "bootstrap leaves: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := written(t, map[string]string{"plugin.py": c.plugin, "pyplug.toml": "entry = \"plugin.py\"\n" + c.manifest})
			got := checkPlugin(t, []string{"PYTHONDONTWRITEBYTECODE=1"}, append(c.flags, dir)...)
			got.holds(t, c.code, c.want...)
			stage, _, _ := strings.Cut(c.want[0], " ")
			if says := got.stage(stage).Message; !strings.Contains(says, c.says) {
				t.Errorf("%s: %q, want %q in it", stage, says, c.says)
			}
		})
	}
}

// TestCheckAnsweredBeforeKill checks that a call that ended before the kill is not reported as
// killed. On a busy machine the call may come too late, but not each time.
func TestCheckAnsweredBeforeKill(t *testing.T) {
	t.Parallel()
	message := ""
	for range 5 {
		c := checkPlugin(t, nil, "--crash", "--call", "greet World", "testdata/plugins/greeter.py")
		c.holds(t, 0)
		if message = c.stage("again").Message; strings.Contains(message, "answered before that kill") {
			if strings.Contains(message, "during") {
				t.Errorf("%q", message)
			}
			return
		}
	}
	t.Errorf("%q, want that it answered before that kill", message)
}
