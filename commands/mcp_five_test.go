//go:build linux

package commands_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestMCPFive checks five sessions that share one plugin process. A crash, a kill, a killed
// session, a stop and a start cost the others only the running call, and no session.
func TestMCPFive(t *testing.T) {
	t.Parallel()
	text := mcpPlugin + "def pid(): return os.getpid()\n"
	path, env := writePlugin(t, text), []string{"PYPLUG_RUN_DIR=" + runDir(t)}
	var tags []string
	run := func(words ...string) {
		t.Helper()
		s := pyplug(t, env, words...)
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		tags, s.tag = append(tags, s.tag), "" // an empty tag disables the check that no child process is left
	}
	run("start", path)
	defer run("stop", "--all")
	var all []*mcpSession
	for range 5 {
		m := mcpOf(t, env, "tools")
		m.ask("tools/list", "{}")
		all = append(all, m)
	}
	others := testDeaths(t, all)
	run("stop", "tools")
	for _, m := range others {
		m.call("pid", "{}", "not running")
	}
	if err := os.WriteFile(path, []byte(text+"def added(): return 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("start", path)
	for _, m := range others {
		m.begin("tools/call", `{"name":"added"}`)
		if got := m.next() + m.next(); !strings.Contains(got, "tools/list_changed") || !strings.Contains(got, `"text":"1"`) {
			t.Errorf("got %s", got)
		}
	}
	samePID(others, 0)
	for _, m := range others {
		m.close()
	}
	run("stop", "tools")
	for _, tag := range tags {
		runnertest.Until(t, "the daemon has exited", func() bool { return len(runnertest.WithEnv(tag)) == 0 })
	}
}

// testDeaths ends the plugin's process with a call, and with a signal during a call, and kills the
// first session during a call. It returns the other sessions.
func testDeaths(t *testing.T, all []*mcpSession) (others []*mcpSession) {
	t.Helper()
	first, others := all[0], all[1:]
	pid := samePID(all, 0)
	first.call("die", "{}", "exit code 3")
	pid = samePID(slices.Concat(others, all), pid)

	id := first.nap()
	waiting := others[0].begin("tools/call", `{"name":"pid"}`)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	if got := first.answer(id); !strings.Contains(got, "exited during the call (SIGKILL)") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("got %s", got)
	}
	if got := others[0].pid(waiting); got == pid {
		t.Error("the process that was killed answers")
	}
	pid = samePID(all, pid)

	first.nap()
	_ = first.Process.Kill()
	_ = first.Wait()
	if got := samePID(others, 0); got != pid {
		t.Errorf("the process is %d, and was %d: the call of a killed session is only interrupted", got, pid)
	}
	return others
}

// samePID calls pid in each session, and checks that all sessions share one process, whose pid is
// not before.
func samePID(sessions []*mcpSession, before int) (pid int) {
	for _, m := range sessions {
		m.t.Helper()
		got := m.pid(m.begin("tools/call", `{"name":"pid"}`))
		if got == before || pid != 0 && got != pid {
			m.t.Errorf("the process is %d; of another session %d, before %d", got, pid, before)
		}
		pid = got
	}
	return pid
}

// nap begins a call of nap, and returns its id when the call runs.
func (m *mcpSession) nap() int {
	m.t.Helper()
	_ = os.Remove(m.marker)
	id := m.begin("tools/call", `{"name":"nap","arguments":{"marker":"`+m.marker+`"}}`)
	runnertest.Until(m.t, "it sleeps", runnertest.Exists(m.marker))
	return id
}

// pid returns the answer to a call of pid.
func (m *mcpSession) pid(id int) int {
	m.t.Helper()
	text := m.answer(id)
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	var pid int
	if json.Unmarshal([]byte(text), &answer) != nil || len(answer.Result.Content) != 1 || json.Unmarshal([]byte(answer.Result.Content[0].Text), &pid) != nil {
		m.t.Fatalf("got %s", text)
	}
	return pid
}
