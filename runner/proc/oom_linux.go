package proc

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// oomKills returns the present counts.
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

// oomFiles are the files with the counts. A container may see the path of its group,
// that of the host, or neither; then the root of the mount is its own group.
var oomFiles = sync.OnceValue(func() []string {
	groups, _ := os.ReadFile("/proc/self/cgroup")
	return append([]string{"/proc/vmstat"}, cgroupFiles(groups, "/sys/fs/cgroup", func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	})...)
})

// cgroupFiles finds, for the text of /proc/self/cgroup, the files of the memory
// controller, version 1 or 2, that exist under root.
func cgroupFiles(groups []byte, root string, exists func(string) bool) []string {
	var files []string
	for line := range bytes.Lines(groups) {
		fields := bytes.SplitN(bytes.TrimSpace(line), []byte(":"), 3)
		if len(fields) != 3 {
			continue
		}
		var mounts []string
		name := "memory.events"
		switch controllers := string(fields[1]); {
		case controllers == "": // version 2
			mounts = []string{root, root + "/unified"}
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			mounts, name = []string{root + "/memory"}, "memory.oom_control"
		}
		for _, mount := range mounts {
			for _, file := range []string{path.Join(mount, string(fields[2]), name), path.Join(mount, name)} {
				if exists(file) {
					files = append(files, file)
					break
				}
			}
		}
	}
	return files
}
