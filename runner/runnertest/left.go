package runnertest

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/proc"
)

// NothingLeft checks at the end of a test that it left no goroutine and no
// descriptor behind. It is called first, so that its check comes last. Tests
// that use it do not run in parallel.
func NothingLeft(t testing.TB) {
	t.Helper()
	proc.Close()                   // what a run keeps for all its processes is counted on neither side
	_, _ = os.ReadFile(os.DevNull) // lets the runtime open its poller, whose descriptors stay
	descriptors, goroutines := openDescriptors(), ours()
	t.Cleanup(func() {
		proc.Close()
		deadline := time.After(5 * time.Second)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			left := len(ours()) - len(goroutines)
			open := openDescriptors() - descriptors
			if left <= 0 && open <= 0 {
				return
			}
			select {
			case <-tick.C:
			case <-deadline:
				t.Errorf("left behind: %d descriptors, %d goroutines:\n%s", open, left, strings.Join(ours(), "\n\n"))
				return
			}
		}
	})
}

// openDescriptors counts the descriptors; 0 where the system does not list them.
func openDescriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// ours returns the stacks of the goroutines that run this module's code.
func ours() []string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var stacks []string
	for _, stack := range strings.Split(string(buf), "\n\n") {
		if strings.Contains(stack, "pyplug/runner/") && !strings.Contains(stack, "testing.tRunner") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
