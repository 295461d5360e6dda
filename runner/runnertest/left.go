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

// NothingLeft checks at the end of a test that the test left no goroutine and no
// descriptor open. Call it first, so that its check runs last, and only in tests
// that do not run in parallel.
func NothingLeft(t testing.TB) {
	t.Helper()
	proc.Close()                   // closes what proc keeps open between tests
	_, _ = os.ReadFile(os.DevNull) // makes the runtime open its poller, whose descriptors stay open
	descriptors, goroutines := openDescriptors(), moduleStacks()
	t.Cleanup(func() {
		proc.Close()
		var open, left []string
		if !Soon(func() bool {
			open, left = openDescriptors(), moduleStacks()
			return len(open) <= len(descriptors) && len(left) <= len(goroutines)
		}) {
			t.Errorf("still open: %d descriptors, before %q, now %q; %d goroutines:\n%s", len(open)-len(descriptors), descriptors, open,
				len(left)-len(goroutines), strings.Join(left, "\n\n"))
		}
	})
}

// openDescriptors returns the open descriptors with their targets, or nothing if
// the system has no /proc.
func openDescriptors() (all []string) {
	entries, _ := filepath.Glob("/proc/self/fd/*") // the pattern is right
	for _, entry := range entries {
		if to, err := os.Readlink(entry); err == nil { // the descriptor of the listing is closed
			all = append(all, fmt.Sprint(filepath.Base(entry), " ", to))
		}
	}
	slices.Sort(all)
	return all
}

// moduleStacks returns the stacks of the goroutines that run this module's code.
func moduleStacks() []string {
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
