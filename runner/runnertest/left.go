package runnertest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

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
		var open, left []string
		if !Soon(func() bool {
			open, left = openDescriptors(), ours()
			return len(open) <= len(descriptors) && len(left) <= len(goroutines)
		}) {
			t.Errorf("left behind: %d descriptors, before %q, now %q; %d goroutines:\n%s", len(open)-len(descriptors), descriptors, open,
				len(left)-len(goroutines), strings.Join(left, "\n\n"))
		}
	})
}

// openDescriptors lists the descriptors with what they are; none where the system
// does not list them.
func openDescriptors() (all []string) {
	entries, _ := filepath.Glob("/proc/self/fd/*") // the pattern is right
	for _, entry := range entries {
		if to, err := os.Readlink(entry); err == nil { // that of the list itself is closed
			all = append(all, fmt.Sprint(filepath.Base(entry), " ", to))
		}
	}
	slices.Sort(all)
	return all
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
