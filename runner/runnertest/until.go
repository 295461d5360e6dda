package runnertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// WaitTimeout limits every wait in a test. It is long because a test machine may be
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

// Soon polls a condition as [Until] does, and reports whether it became true.
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

// Retry repeats an attempt that may fail on a busy machine, such as an answer within
// 200 ms. After several errors it fails the test with the last one. An attempt itself
// fails the test if it sees something that must never happen.
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

// Exists returns a condition for [Until]: the file exists.
func Exists(path string) func() bool {
	return func() bool {
		_, err := os.Stat(path)
		return err == nil
	}
}

// WithEnv returns the processes that have entry, such as "TAG=1", in their
// environment. It returns nothing if the system has no /proc.
func WithEnv(entry string) []int {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is right
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
