package runnertest

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Until waits for a condition, which is asked again and again, and fails the
// test when it does not come true. It returns how long that took.
func Until(t testing.TB, what string, condition func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !condition() {
		<-tick.C
		if time.Since(began) > patience {
			t.Fatalf("waited %s in vain: %s", patience, what)
		}
	}
	return time.Since(began)
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
