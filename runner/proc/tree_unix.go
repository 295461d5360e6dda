//go:build linux || darwin

package proc

import (
	"math"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// tree is one process, the leader of its group, and everything that it starts.
type tree struct {
	pid      int // the number of the leader and of the group
	n        uint32
	lifeline int // descriptor of the write end, or -1
	death

	mu     sync.Mutex
	reaped bool // the leader was reaped, so pid may belong to another process
}

// The child's descriptors above the standard ones are consecutive, in this order. They are high,
// because programs and the scripts that wrap them may close low descriptors or rely on their
// numbers.
const (
	firstHigh = 190
	spareHigh = 32 // descriptors that a fork needs above them
	noFile    = math.MaxUint
)

// highPlace returns firstHigh, or a lower descriptor if the limit on open files is low.
func highPlace() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Cur < firstHigh+spareHigh {
		return max(3, int(limit.Cur)-spareHigh)
	}
	return firstHigh
}

// DescriptorsOf returns the descriptors in every process that is started with Talk on this system.
func DescriptorsOf() Descriptors {
	place := highPlace() // the place of the lifeline
	return Descriptors{In: place + 1, Out: place + 2, Control: place + 3, Stdout: 1}
}

// startTree starts the leader in its own group. The leader gets the files of child as its
// descriptors.
func startTree(s Spec, child []*os.File) (*tree, error) {
	prepare()
	t := &tree{n: running.count.Add(1), lifeline: -1}
	life := newLifeline()
	fds := slices.Repeat([]uintptr{noFile}, highPlace())
	for i, c := range child[:3] {
		fds[i] = c.Fd()
	}
	fds = append(fds, life.child())
	for _, c := range child[3:] {
		fds = append(fds, c.Fd())
	}
	if s.control != nil {
		fds = append(fds, s.control.Fd())
	}
	var err error
	t.pid, err = syscall.ForkExec(s.Path, s.argv(DescriptorsOf()), &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   withTag(s.Env, tag(t.n)),
		Files: fds,
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		life.close()
		return nil, err
	}
	t.lifeline = life.arm(t.pid)
	return t, nil
}

// tag returns the tag of the run's n-th process: its element, after the tag of an outer pyplug that
// runs this one.
func tag(n uint32) string {
	tag := running.element(n)
	if outer := os.Getenv(guard.Tag); outer != "" {
		tag = outer + ":" + tag
	}
	return tag
}

// withTag returns env with a tag. It replaces an existing tag.
func withTag(env []string, tag string) []string {
	return append(Without(env, guard.Tag), guard.Tag+"="+tag)
}

// send signals the leader or, if pid is negative, its group. After the leader was reaped, it does
// nothing.
func (t *tree) send(pid int, s syscall.Signal) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reaped {
		return os.ErrProcessDone
	}
	err := syscall.Kill(pid, s)
	if err == syscall.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

// urgent is the signal of [Process.Urge].
const urgent = syscall.SIGURG

// signal signals the leader.
func (t *tree) signal(s syscall.Signal) error { return t.send(t.pid, s) }

// terminationSignal returns the signal that asks the leader to exit, and its name: SIGINT if it
// catches only that, or else SIGTERM.
func (t *tree) terminationSignal() (syscall.Signal, string) {
	s := syscall.SIGTERM
	if !t.catches(int(syscall.SIGTERM)) && t.catches(int(syscall.SIGINT)) {
		s = syscall.SIGINT
	}
	return s, signalName(s)
}

// terminate sends a signal to the group. It also continues stopped processes, so that they act on
// the signal.
func (t *tree) terminate(s syscall.Signal) {
	t.send(-t.pid, s)
	t.send(-t.pid, syscall.SIGCONT)
}

// kill kills the process group, and the leader even if it left the group.
func (t *tree) kill() {
	t.send(-t.pid, syscall.SIGKILL)
	t.send(t.pid, syscall.SIGKILL)
}

// ending describes how the leader ended.
type ending struct {
	code   int
	signal string
	left   []string // names of the processes that it left behind
}

// setReaped disables signals to the leader and its group.
func (t *tree) setReaped() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reaped = true
}

// reap takes the status of the dead leader and frees its number.
func (t *tree) reap() ending {
	t.setReaped() // before the wait, which may take long for a forked process
	status, err := t.takeStatus()
	if t.lifeline >= 0 {
		syscall.Close(t.lifeline)
	}
	if err != nil { // another caller took the status
		return ending{code: -1}
	}
	code, signal := statusOf(status)
	return ending{code: code, signal: signal}
}

// StatusOf returns the exit code of a process that another package has waited for, and the name of
// the signal that ended it. See [Exit].
func StatusOf(state *os.ProcessState) (code int, signal string) {
	return statusOf(state.Sys().(syscall.WaitStatus)) // always this type on Unix
}

func statusOf(status syscall.WaitStatus) (code int, signal string) {
	if status.Signaled() {
		return -1, signalName(status.Signal())
	}
	return status.ExitStatus(), ""
}

// waitFor takes the status of a child of pyplug.
func waitFor(pid int) (status syscall.WaitStatus, err error) {
	_, err = syscall.Wait4(pid, &status, 0, nil)
	for err == syscall.EINTR {
		_, err = syscall.Wait4(pid, &status, 0, nil)
	}
	return status, err
}

// HasSignals reports whether the system has signals: one can ask a process to exit, and an exit
// names the signal that caused it.
const HasSignals = true

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(s))
}

// Descends reports whether a process is the leader, is in its group, or was started by such a
// process, directly or indirectly.
func Descends(pid, leader int) bool {
	for steps := 0; pid > 1 && steps < 1000; steps++ { // reused numbers could form a cycle
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
