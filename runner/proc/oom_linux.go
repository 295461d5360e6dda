package proc

import (
	"bytes"
	"os"
	"path"
	"sync"
)

// oomKills counts now.
func oomKills() oomCounts {
	files := oomFiles()
	counts := make(oomCounts, len(files))
	for i, file := range files {
		counts[i] = -1
		if text, err := os.ReadFile(file); err == nil {
			counts[i] = oomKill(text)
		}
	}
	return counts
}

// oomFiles are the files that count. A container may see its group's path, the
// host's, or neither; then the root of what is mounted is its own group.
var oomFiles = sync.OnceValue(func() []string {
	groups, _ := os.ReadFile("/proc/self/cgroup")
	return append([]string{"/proc/vmstat"}, cgroupFiles(groups, "/sys/fs/cgroup", func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	})...)
})

// cgroupFiles finds, for /proc/self/cgroup's text, the files of the memory
// controller, of version 2 and 1, that exist under root.
func cgroupFiles(groups []byte, root string, exists func(string) bool) []string {
	var files []string
	for line := range bytes.Lines(groups) {
		fields := bytes.SplitN(bytes.TrimSpace(line), []byte(":"), 3)
		if len(fields) != 3 {
			continue
		}
		mounts, name := []string{root, root + "/unified"}, "memory.events"
		if len(fields[1]) > 0 {
			mounts, name = []string{root + "/memory"}, "memory.oom_control"
			if !hasMemory(fields[1]) {
				continue
			}
		}
		for _, mount := range mounts {
			own, top := path.Join(mount, string(fields[2]), name), path.Join(mount, name)
			if exists(own) {
				files = append(files, own)
			} else if exists(top) {
				files = append(files, top)
			}
		}
	}
	return files
}

func hasMemory(controllers []byte) bool {
	for c := range bytes.SplitSeq(controllers, []byte(",")) {
		if string(c) == "memory" {
			return true
		}
	}
	return false
}
