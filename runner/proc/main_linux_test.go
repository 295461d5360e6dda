package proc

import (
	"bytes"
	"os"
	"strconv"
)

func descriptors() int {
	names, _ := os.ReadDir("/proc/self/fd")
	return len(names)
}

// leftovers lists the processes with a tag of this run, and the children of this process.
func leftovers() []int {
	left := children()
	names, _ := os.ReadDir("/proc")
	for _, name := range names {
		if pid, err := strconv.Atoi(name.Name()); err == nil && bytes.Contains(procFile(pid, "environ"), []byte(running.run+".")) {
			left = append(left, pid)
		}
	}
	return left
}
