package pyworker_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestPreloadKilled checks that the zygote, its workers and their children are gone after pyplug is
// killed.
func TestPreloadKilled(t *testing.T) {
	const helper = "PYPLUG_TEST_KILLED"
	if os.Getenv(helper) != "" { // this is the process to be killed
		l := preloading(t, zoo(t, "double_fork.py"))
		for range 4 {
			if _, err := worker(t, l).Call(t.Context(), encode(t, "daemonize", map[string]any{})); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Println("ready")
		<-t.Context().Done()
		return
	}
	runnertest.NothingLeft(t)
	tag := fmt.Sprintf("%s=%d", helper, os.Getpid())
	cmd := exec.Command(os.Args[0], "-test.run=^TestPreloadKilled$")
	cmd.Env = append(os.Environ(), tag)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Errorf("got %q, %v", line, err)
	}
	if n := len(runnertest.WithEnv(tag)); n < 1+1+4+4 {
		t.Errorf("%d processes, want pyplug, the zygote, four workers and their daemons", n)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	took := runnertest.Until(t, "all are gone", func() bool { return len(runnertest.WithEnv(tag)) == 0 })
	t.Logf("all gone after %s", took)
	_ = cmd.Wait() // fails, because the process was killed
	proc.Close()
	runnertest.Until(t, "its orphans, which may have come to us, are reaped", func() bool {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		return pid <= 0 && err == syscall.ECHILD
	})
}

// TestPreloadStorm checks that many concurrent launches end, although some zygotes die.
func TestPreloadStorm(t *testing.T) {
	runnertest.NothingLeft(t)
	path := plugin(t, "def parent(): return os.getppid()\n")
	l := pyworker.New(preloaded(t, path)) // if two zygotes die, a launch uses exec
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 6 {
				w, err := l.Launch(t.Context())
				if err != nil {
					t.Errorf("%v, %v", err, errors.Unwrap(err))
					return
				}
				if (i+j)%4 == 0 {
					if r, err := w.Call(t.Context(), hook.Call{Hook: "parent"}); err == nil && string(r.Value) != fmt.Sprint(os.Getpid()) {
						var pid int
						fmt.Sscan(string(r.Value), &pid)
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
				}
				if err := w.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
