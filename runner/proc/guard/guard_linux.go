package guard

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
)

// killTagged kills all processes of the run. It starts with the youngest: if processes fork and
// exit in a chain, only the youngest is alive. It stops all before it kills one, so that none can
// react to the death of another.
//
// It reports whether it found any, or may have missed one: a dying process has no environment any
// more, and may just have forked a child. seen contains the processes that earlier passes did not
// kill. They do not count again.
func killTagged(run string, seen map[string]bool) (found bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var stopped []int
	for _, name := range slices.Backward(names) {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		switch env, _ := os.ReadFile("/proc/" + name + "/environ"); {
		case bytes.Contains(env, []byte(run+".")):
			syscall.Kill(pid, syscall.SIGSTOP)
			stopped = append(stopped, pid)
		case !seen[name]:
			seen[name] = true
			found = found || len(env) == 0
		}
	}
	for _, pid := range stopped {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return found || len(stopped) > 0
}
