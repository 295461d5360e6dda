package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// survivors names what lives of a dead leader's tree. What the leader started
// itself is our child since its death, and below such a child is what that one
// started. The leader is a zombie still, so that nobody else's group has its
// number. What dies while we look hands its children to us behind our back:
// sure tells that nothing of the tree was there, dead or alive, so that a second
// look would find nothing either.
func (t *tree) survivors() (left []string, sure bool) {
	sure = true
	var below []int
	for _, pid := range children() {
		if pid != t.pid && !held.leads(pid) && t.owns(pid) {
			below, sure = append(below, pid), false
		}
	}
	for len(below) > 0 && len(left) < mostLeft {
		pid := below[0]
		below = below[1:]
		if name, lives := living(pid); lives {
			left = append(left, leftover(name, pid))
			more, _ := childrenOf(strconv.Itoa(pid))
			below = append(below, more...)
		}
	}
	return left, sure
}

// living tells whether a process lives, and its name. One that is about to die
// does not: it has a SIGKILL pending, into which the system turns every signal
// that nothing is going to stop, or is exiting already, in this order.
func living(pid int) (name string, lives bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return "", false
	}
	state := statusLine(status, "State:")
	if bytes.HasPrefix(state, []byte("Z")) || bytes.HasPrefix(state, []byte("X")) {
		return "", false
	}
	pending, _ := strconv.ParseUint(string(statusLine(status, "SigPnd:")), 16, 64)
	if pending>>(syscall.SIGKILL-1)&1 == 1 {
		return "", false
	}
	const exiting, signaled = 0x4, 0x400 // PF_EXITING, PF_SIGNALED
	stat, err := os.ReadFile(dir + "/stat")
	// The fields after the name in parentheses: the state, the parent, the
	// group, the session, the terminal, its group, the flags.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if err != nil || len(fields) < 7 {
		return "", false
	}
	flags, _ := strconv.ParseUint(string(fields[6]), 10, 64)
	return string(statusLine(status, "Name:")), flags&(exiting|signaled) == 0
}
