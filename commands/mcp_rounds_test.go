//go:build linux

package commands_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestMCPRounds checks that under load nothing is left, whatever ends a session during a call. It
// repeats 200 times a call that has a child in its own session.
func TestMCPRounds(t *testing.T) {
	if os.Getenv("PYPLUG_TEST_LONG") == "" {
		t.Skip("runs with PYPLUG_TEST_LONG=1")
	}
	const rounds, loops = 50, 4
	for range loops {
		busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }()
	}
	plugin := writePlugin(t, strings.Replace(mcpPlugin, "time.sleep(600)", `subprocess.run(["sleep", "600"], start_new_session=True)`, 1))
	begin := func(t *testing.T) *mcpSession { return mcpOf(t, nil, plugin) }
	t.Run("ends", func(t *testing.T) {
		for name, round := range map[string]func(t *testing.T) (m *mcpSession, end func()){
			"the input ends": func(t *testing.T) (*mcpSession, func()) { m := begin(t); return m, func() { m.in.Close() } },
			"SIGTERM": func(t *testing.T) (*mcpSession, func()) {
				m := begin(t)
				return m, func() { _ = m.Process.Signal(syscall.SIGTERM) }
			},
			"pyplug is killed": func(t *testing.T) (*mcpSession, func()) { m := begin(t); return m, func() { _ = m.Process.Kill() } },
			"its client is killed": func(t *testing.T) (*mcpSession, func()) {
				m, client := mcpUnder(t, plugin)
				return m, func() { _ = client.Process.Kill(); _ = client.Wait() }
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var took []time.Duration
				for range rounds {
					m, end := round(t)
					m.begin("tools/call", `{"name":"nap","arguments":{"marker":"`+m.marker+`"}}`)
					runnertest.Until(t, "the call runs", runnertest.Exists(m.marker))
					pids := runnertest.WithEnv(m.tag) // finding these takes little time
					began := time.Now()
					end()
					if m.Process != nil {
						_ = m.Wait()
					}
					runnertest.Until(t, "they are gone", func() bool {
						return !slices.ContainsFunc(pids, runs)
					})
					took = append(took, time.Since(began))
					runnertest.Until(t, "nothing is left", func() bool { return len(runnertest.WithEnv(m.tag)) == 0 })
				}
				slices.Sort(took)
				t.Logf("%s: nothing is left after %s, in one half of %d rounds after %s", name, took[rounds-1], rounds, took[rounds/2])
			})
		}
	})
}

// runs reports whether a process runs. A process that only waits to be reaped has no environment.
func runs(pid int) bool {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return len(environ) > 0
}
