package proc

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// CanFork tells whether this system can do [Process.Fork]: Linux can since 5.3,
// where nobody has forbidden it.
var CanFork = sync.OnceValue(func() bool {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
})

// controlLimit is how long a process may take to answer.
const controlLimit = 10 * time.Second

// control is our end of the socket to a process that forks. A nil one is that of
// a process that does not. It is safe for concurrent use.
type control struct {
	mu sync.Mutex // held from a question to its answer
	fd int        // -1 when closed

	// bearing is held for reading while a worker is forked that is not yet in live:
	// until then it is not told from what the forking process leaves behind.
	bearing sync.RWMutex
}

// bears keeps a worker that is being forked from being swept, until the func that
// it returns is called.
func (c *control) bears() (born func()) {
	c.bearing.RLock()
	return c.bearing.RUnlock
}

// barren waits until no worker is being forked. The process is dead: there is no
// further one.
func (c *control) barren() {
	if c != nil {
		c.bearing.Lock()
		defer c.bearing.Unlock()
	}
}

// newControl makes a socket of which theirs is the child's end.
func newControl() (ours *control, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	limit := unix.NsecToTimeval(int64(controlLimit))
	unix.SetsockoptTimeval(fds[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit)
	unix.SetsockoptTimeval(fds[0], unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit)
	return &control{fd: fds[0]}, os.NewFile(uintptr(fds[1]), "control"), nil
}

func (c *control) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd >= 0 {
		unix.Close(c.fd)
		c.fd = -1
	}
}

// ask asks one thing and returns the answer's first word and the rest. An error
// means that no answer will come any more.
func (c *control) ask(question string, rights ...int) (word, rest string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fd < 0 {
		return "", "", ErrNoFork
	}
	var oob []byte
	if len(rights) > 0 {
		oob = unix.UnixRights(rights...)
	}
	if err := retry(func() error { return unix.Sendmsg(c.fd, []byte(question), oob, nil, unix.MSG_NOSIGNAL) }); err != nil {
		return "", "", err
	}
	buf, n := make([]byte, 4096), 0
	err = retry(func() (err error) { n, err = unix.Read(c.fd, buf); return err })
	if err != nil {
		return "", "", err
	}
	if n == 0 {
		return "", "", ErrNoFork
	}
	word, rest, _ = strings.Cut(string(buf[:n]), " ")
	return word, rest, nil
}

// retry calls f until no signal interrupts it. The time limit of a socket begins
// anew then, which a process that gets signals all the time may stretch.
func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// ask asks a process that forks. One that does not answer is killed.
func (p *Process) ask(question string, rights ...int) (word, rest string, err error) {
	word, rest, err = p.control.ask(question, rights...)
	if err != nil {
		return "", "", p.noMore()
	}
	return word, rest, nil
}

// noMore kills a process that does not speak as agreed.
func (p *Process) noMore() error {
	p.control.close()
	p.tree.kill()
	return ErrNoFork
}

// bear has p fork a worker with child as its descriptors 0, 1 and 2.
func (p *Process) bear(child [3]*os.File) (*tree, error) {
	t := &tree{n: held.next(), lifeline: -1}
	life := newLifeline()
	rights := []int{int(child[0].Fd()), int(child[1].Fd()), int(child[2].Fd())}
	if life.r >= 0 {
		rights = append(rights, life.r)
	}
	pid, err := p.askForWorker(t.n, rights)
	if err != nil {
		life.drop()
		if err == ErrNoFork {
			<-p.died
			t.sweep() // a worker that was there, and that nobody told us of
		}
		return nil, err
	}
	// The worker is p's child, or ours when p is gone, and keeps its number until it
	// is reaped, which is for us to ask or to do. That somebody else did it, because
	// SIGCHLD is ignored there, is seen first of all.
	t.pid, t.forked = pid, &forked{by: p, pidfd: -1}
	if t.forked.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		life.drop()
		if err == unix.ESRCH {
			return nil, p.noMore()
		}
		t.kill()
		t.reap()
		return nil, os.NewSyscallError("pidfd_open", err)
	}
	t.mark()
	t.lifeline = life.arm(pid)
	return t, nil
}

// askForWorker returns the number of a worker that p forked as the run's n-th
// process.
func (p *Process) askForWorker(n uint32, rights []int) (pid int, err error) {
	word, rest, err := p.ask(fmt.Sprintf("fork %d %s", lifelinePlace(), tag(n, true)), rights...)
	if err != nil {
		return 0, err
	}
	number := 0
	switch _, bad := fmt.Sscan(rest, &number); {
	case word == "refused":
		return 0, &RefusedError{Reason: rest}
	case bad == nil && word == "errno":
		return 0, os.NewSyscallError("fork", syscall.Errno(number))
	case bad == nil && word == "pid" && number > 1:
		return number, nil
	}
	return 0, p.noMore()
}

// forked is a process that is not our child but that of one of ours. When that one
// is gone it is ours, since orphans come to us.
type forked struct {
	by    *Process
	pidfd int
}

// awaitDeath blocks until the process has exited.
func (f *forked) awaitDeath() {
	watch := []unix.PollFd{{Fd: int32(f.pidfd), Events: unix.POLLIN}}
	for {
		if n, err := unix.Poll(watch, -1); n > 0 || err != unix.EINTR {
			return
		}
	}
}

// takeStatus takes the status of a dead leader, whose number is then free, and the
// most memory it had, in KiB. It waits for one that is not dead.
func (t *tree) takeStatus() (status syscall.WaitStatus, maxRSS int64, err error) {
	if t.forked == nil {
		return waitFor(t.pid)
	}
	if t.forked.pidfd >= 0 {
		defer unix.Close(t.forked.pidfd)
	}
	word, rest, err := t.forked.by.ask(fmt.Sprintf("reap %d", t.pid))
	if err != nil {
		return t.forked.waitFor(t.pid)
	}
	if _, bad := fmt.Sscan(rest, (*uint32)(&status), &maxRSS); word != "status" || bad != nil {
		return status, 0, unix.ECHILD
	}
	return status, maxRSS, nil
}

// waitFor takes the status when the process that forked it was killed, or had died.
// That one may have taken it before: then the number is free, and not waited for.
func (f *forked) waitFor(pid int) (status syscall.WaitStatus, maxRSS int64, err error) {
	select {
	case <-f.by.died:
	case <-time.After(sweepTime): // it waits for a disk
		return status, 0, unix.ECHILD
	}
	if f.pidfd >= 0 {
		err = retry(func() error { return unix.Waitid(unix.P_PIDFD, f.pidfd, nil, unix.WEXITED|unix.WNOWAIT, nil) })
		if err != nil {
			return status, 0, err
		}
	}
	return waitFor(pid)
}

// firstMemory is where the figure of the leader's most memory begins.
func (t *tree) firstMemory() int64 {
	if t.forked != nil {
		return 0 // its own, though what it shares counts
	}
	return ownMemory()
}
