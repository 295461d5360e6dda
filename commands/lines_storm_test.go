//go:build linux

package commands_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLinesStorm kills workers at random moments while lines are answered as fast as possible.
// Every line gets one answer, in order, and its hook is called once or, if the worker died before,
// not at all.
func TestLinesStorm(t *testing.T) {
	dir := t.TempDir()
	plugin, record := filepath.Join(dir, "storm.py"), filepath.Join(dir, "record")
	const source = `
import os, time
record = os.open(os.environ["RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
def call(n):
    os.write(record, b"%d\\n" % n)
    if n % 797 == 0: os._exit(1)
    if n % 503 == 0: time.sleep(0.015)
    return [n, os.getpid()]
`
	if err := os.WriteFile(plugin, []byte(strings.ReplaceAll(source, `\\`, `\`)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := pyplug(t, []string{"RECORD=" + record}, "run", "--lines", plugin, "call")
	in, out := talking(t, s.Cmd)
	const total = 8000
	go func() { // ends with pyplug, or when everything is written
		defer in.Close()
		for n := range total {
			if _, err := fmt.Fprintf(in, "[%d]\n", n); err != nil {
				return
			}
		}
	}()
	answers, kills, crashes := json.NewDecoder(out), 0, 0
	begun := map[int]bool{}
	for n := range total {
		var a struct {
			ID     int
			Result []int
			Error  *struct{ Kind string }
		}
		if err := answers.Decode(&a); err != nil || a.ID != n+1 {
			t.Fatalf("answer %d: %+v, %v", n+1, a, err)
		}
		switch {
		case a.Error == nil && len(a.Result) == 2 && a.Result[0] == n:
			if begun[n] = true; rand.IntN(400) == 0 {
				_ = syscall.Kill(a.Result[1], syscall.SIGKILL) // it may be dead already
				kills++
			}
		case a.Error == nil || a.Error.Kind != "crash":
			t.Fatalf("answer %d: %+v", n+1, a)
		default:
			crashes++
		}
	}
	s.ends(t, 1)
	if crashes < total/797 || crashes > total/797+1+kills {
		t.Errorf("%d calls failed, after %d kills", crashes, kills)
	}
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, line := range strings.Fields(string(text)) {
		n := -1
		if _, err := fmt.Sscan(line, &n); err != nil || n <= last {
			t.Fatalf("call %q after call %d", line, last)
		}
		delete(begun, n)
		last = n
	}
	if len(begun) > 0 {
		t.Errorf("answered and not called: %v", begun)
	}
}
