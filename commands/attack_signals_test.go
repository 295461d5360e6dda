//go:build linux

package commands_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// signaled sends a signal at a random moment to a run --lines with several workers, and checks that
// there are no gaps in the answers and that nothing is left. A second signal cancels the calls,
// which are also answered.
func (a *attack) signaled() {
	signal, code := syscall.SIGINT, 130
	if rand.IntN(2) == 0 {
		signal, code = syscall.SIGTERM, 143
	}
	flags := []string{"--workers", fmt.Sprint(2 + rand.IntN(3))}
	mode := []string{"", "--raw", "--unordered", "twice"}[rand.IntN(4)]
	if mode == "--raw" || mode == "--unordered" {
		flags = append(flags, mode)
	}
	a.mu.Lock()
	a.token++
	tag := fmt.Sprintf("ATTACK_SIGNALED=%d-%d", a.token, rand.Int())
	a.mu.Unlock()
	cmd := a.command(append(append([]string{"run", "--lines"}, flags...), "testdata/plugins/uneven.py", "same")...)
	cmd.Env = append(slices.Clone(cmd.Env), tag)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	in, out := talking(a.t, cmd)
	go func() { // ends with pyplug
		for n := 1; ; n++ {
			if _, err := fmt.Fprintf(in, "%d\n", n); err != nil {
				return
			}
		}
	}()
	first := make([]byte, 1)
	_, err := io.ReadFull(out, first)
	late := time.AfterFunc(rand.N(300*time.Millisecond), func() {
		_ = cmd.Process.Signal(signal) // cannot fail: the program runs until a signal
		if mode == "twice" {
			time.AfterFunc(rand.N(5*time.Millisecond), func() { _ = cmd.Process.Signal(signal) }) // it may have ended
		}
	})
	defer late.Stop()
	rest, failed := io.ReadAll(out)
	ended := cmd.Wait()
	a.count(fmt.Sprintf("signaled %v %s", signal, mode))
	if got := shellCode(cmd.ProcessState); got != code || err != nil || failed != nil {
		a.t.Errorf("run --lines %q, %v: exit code %d, %v, %v, %v: %s", flags, signal, got, err, failed, ended, &errs)
		return
	}
	if gap := gapIn(append(first, rest...), mode); gap != "" {
		a.t.Errorf("run --lines %q, %v %s: %s", flags, signal, mode, gap)
	}
	if !runnertest.Soon(func() bool { return len(runnertest.WithEnv(tag)) == 0 }) {
		a.t.Errorf("run --lines %q, %v: processes %v are left", flags, signal, runnertest.WithEnv(tag))
	}
}

// gapIn returns the fault in the answers to the lines 1, 2, 3…, or "" if there is none.
func gapIn(answers []byte, mode string) string {
	var lines []int
	for line := range bytes.Lines(answers) {
		var one struct {
			ID     int
			Result int
			Error  *failure
		}
		var err error
		if mode == "--raw" {
			err = json.Unmarshal(line, &one.ID)
		} else if err = json.Unmarshal(line, &one); one.Error == nil && one.Result != one.ID {
			return fmt.Sprintf("the answer %s has another result", line)
		}
		canceled := mode == "twice" && one.Error != nil && one.Error.Kind == "canceled"
		if err != nil || one.Error != nil && !canceled {
			return fmt.Sprintf("got %s, %v", line, err)
		}
		lines = append(lines, one.ID)
	}
	if mode == "--unordered" {
		slices.Sort(lines)
	}
	for i, line := range lines {
		if line != i+1 {
			return fmt.Sprintf("of %d answers number %d is that of line %d", len(lines), i+1, line)
		}
	}
	return ""
}
