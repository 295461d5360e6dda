package proc

import (
	"os"
	"strconv"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

func descriptors() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}

// leftovers lists the processes that carry our mark, and our children.
func leftovers() []int {
	left := children()
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		if pid, err := strconv.Atoi(name.Name()); err == nil && guard.Marked(pid, held.run, 0) {
			left = append(left, pid)
		}
	}
	return left
}
