package runnertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Patience bounds what must end by itself in a test. A machine that has too much to
// do may take a good part of it.
const Patience = time.Minute

// Until waits for a condition, which is asked again and again, and fails the
// test when it does not come true. It returns how long that took.
func Until(t testing.TB, what string, condition func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	if !Soon(condition) {
		t.Fatalf("waited %s in vain: %s", Patience, what)
	}
	return time.Since(began)
}

// Soon waits for a condition as [Until] does, and tells whether it came true.
func Soon(condition func() bool) bool {
	limit := time.NewTimer(Patience)
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

// Tries makes several attempts at what a busy machine may spoil, such as an answer
// that has to come within 200 ms, and fails the test with the last one's error. What
// must never happen is for the attempt itself to fail the test with.
func Tries(t testing.TB, attempt func() error) {
	t.Helper()
	const most = 5
	for n := 1; ; n++ {
		err := attempt()
		switch {
		case err == nil:
			return
		case n == most:
			t.Fatalf("%d times in vain: %v", n, err)
		}
		t.Logf("once more, since the machine may have been too busy: %v", err)
	}
}

// Exists is a condition for Until: a plugin has made its marker.
func Exists(path string) func() bool {
	return func() bool {
		_, err := os.Stat(path)
		return err == nil
	}
}

// Carrying lists the live processes that have entry, such as "TAG=1", in their
// environment. It reads /proc, and lists none where there is none.
func Carrying(entry string) []int {
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
