package proc

import "os"

func descriptors() int {
	names, _ := os.ReadDir("/dev/fd")
	return len(names)
}

func leftovers() []int { return nil }
