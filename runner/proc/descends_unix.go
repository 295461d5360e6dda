//go:build linux || darwin

package proc

// Descends reports whether a process is the leader, is in its group, or was started by such
// a process, directly or through others.
func Descends(pid, leader int) bool {
	for steps := 0; pid > 1 && steps < 1000; steps++ { // numbers may be reused meanwhile
		if pid == leader {
			return true
		}
		parent, group := kin(pid)
		if group == leader {
			return true
		}
		pid = parent
	}
	return false
}
