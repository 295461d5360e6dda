//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// around describes what a daemon has inherited.
type around struct {
	Session, PID int
	Files        map[string]string
	Environ      []string
}

func surroundings() around {
	session, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
	a := around{Session: int(session), PID: os.Getpid(), Files: map[string]string{}, Environ: os.Environ()}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			a.Files[e.Name()] = to
		}
	}
	return a
}

// TestSpawn checks that a daemon inherits the environment, but no descriptors.
func TestSpawn(t *testing.T) {
	dir := nothingLeft(t)
	inherited, err := syscall.Open(filepath.Dir(dir), syscall.O_RDONLY, 0) // not close-on-exec, like a descriptor from a shell
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(inherited) }()
	id, err := Spawn(context.Background(), []string{"__daemon", "good"}, append(os.Environ(), "MARK=1"), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t)
	var a around
	runnertest.Until(t, "the pipe of the start is closed", func() bool {
		a = askAround(t, c)
		return !strings.HasPrefix(a.Files["3"], "pipe:")
	})
	if a.PID != id.PID || a.Session != id.PID || !slices.Contains(a.Environ, "MARK=1") {
		t.Errorf("got %+v of %d", a, id.PID)
	}
	if len(a.Files) > 0 && (a.Files["0"] != "/dev/null" || a.Files["1"] != string(id.Log) || a.Files["2"] != string(id.Log)) {
		t.Errorf("its streams are %v", a.Files)
	}
	for fd, to := range a.Files {
		if to == filepath.Dir(dir) || strings.HasPrefix(to, "pipe:") {
			t.Errorf("descriptor %s is %s", fd, to)
		}
	}
	if _, err := Stop(context.Background(), "p", StopOptions{}); err != nil {
		t.Error(err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	gone(t, id.PID)
}

// askAround asks a daemon what it has inherited.
func askAround(t *testing.T, c *Client) (a around) {
	t.Helper()
	r, err := c.Call(context.Background(), hook.Call{Hook: "about"})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.Value, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// gone waits until no process has that PID.
func gone(t *testing.T, pid int) {
	t.Helper()
	runnertest.Until(t, "the process is gone", func() bool { return syscall.Kill(pid, 0) != nil })
}

// TestSpawnKilled checks that the error of a daemon that was killed before it was ready has its
// exit and its log.
func TestSpawnKilled(t *testing.T) {
	dir := nothingLeft(t)
	_, err := Spawn(context.Background(), []string{"__daemon", "hangs"}, nil, func(string) {
		id, err := place{dir: dir, name: "p"}.readState()
		if err == nil {
			err = syscall.Kill(id.PID, syscall.SIGKILL)
		}
		if err != nil {
			t.Error(err)
		}
	})
	e := hook.AsError(err)
	if !strings.HasSuffix(strings.Join(hook.Words(e.Hints), ""), filepath.Join(dir, "p.log")) || !strings.HasSuffix(e.Error(), "signal: killed") {
		t.Errorf("got %+v", e)
	}
	if ran, err := Stop(context.Background(), "p", StopOptions{}); ran || err != nil { // Stop removes the files of the dead daemon
		t.Errorf("stop: %v, %v", ran, err)
	}
}

// TestStopExits checks that Stop returns when the daemon has exited, not only when its name is
// free.
func TestStopExits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only /proc shows a process that has exited and nobody has waited for")
	}
	nothingLeft(t)
	id, err := spawned(t, "lingers")
	if err != nil {
		t.Fatal(err)
	}
	if ran, err := Stop(context.Background(), "p", StopOptions{}); !ran || err != nil {
		t.Errorf("Stop = %v, %v", ran, err)
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id.PID)); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("the daemon still runs: %s", stat)
	}
}
