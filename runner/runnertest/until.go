package runnertest

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/proc"
)

// WaitTimeout is the timeout of every wait in a test. It is long because a test machine may be
// busy.
const WaitTimeout = time.Minute

// Until polls a condition until it is true, and returns how long that took. After
// [WaitTimeout] it fails the test.
func Until(t testing.TB, what string, condition func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	if !Soon(condition) {
		t.Fatalf("waited %s for: %s", WaitTimeout, what)
	}
	return time.Since(began)
}

// Soon polls a condition like [Until], and reports whether it became true.
func Soon(condition func() bool) bool {
	limit := time.NewTimer(WaitTimeout)
	defer limit.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-limit.C:
			return false
		}
	}
	return true
}

// Retry repeats an attempt that may fail on a busy machine, such as an answer within 200 ms. After
// several errors it fails the test with the last one. An attempt itself fails the test if it
// detects something that must never happen.
func Retry(t testing.TB, attempt func() error) {
	t.Helper()
	const most = 5
	for n := 1; ; n++ {
		err := attempt()
		switch {
		case err == nil:
			return
		case n == most:
			t.Fatalf("failed %d times: %v", n, err)
		}
		t.Logf("retrying, because the machine may have been busy: %v", err)
	}
}

// Exists returns a condition for [Until] that is true if the file exists.
func Exists(path string) func() bool {
	return func() bool {
		_, err := os.Stat(path)
		return err == nil
	}
}

// WithEnv returns the processes that have entry, such as "TAG=1", in their
// environment. It returns nothing if the system has no /proc.
func WithEnv(entry string) []int {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	var pids []int
	for _, file := range environs {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, text...), []byte("\x00"+entry+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// NothingLeft checks at the end of a test that the test left no goroutine and no open descriptor.
// Call it first, so that its check runs last. It panics in tests that run in parallel, because
// other tests open descriptors meanwhile.
func NothingLeft(t testing.TB) {
	t.Helper()
	t.Setenv("PYPLUG_TEST_ALONE", "1") // panics in a parallel test
	proc.Close()                       // closes what proc keeps open between tests
	_, _ = os.ReadFile(os.DevNull)     // makes the runtime open its poller, whose descriptors stay open
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
	entries, _ := filepath.Glob("/proc/self/fd/*") // the pattern is valid
	for _, entry := range entries {
		if to, err := os.Readlink(entry); err == nil { // otherwise it is the closed descriptor of the listing
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

// RestoreSignals lets the children of this process receive SIGINT and SIGHUP. Tests that a script
// starts in the background or with nohup ignore them, and children would inherit that. TestMain
// calls it.
func RestoreSignals() {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // children do not inherit a handler
		}
	}
}
