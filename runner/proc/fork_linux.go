package proc

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// CanFork reports whether this system supports [Process.Fork]. Linux has supported it since 5.3,
// unless a sandbox forbids it.
var CanFork = sync.OnceValue(func() bool {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
})

// answerTime is the timeout of a request. A process that takes longer is killed.
const answerTime = 2 * time.Second

// control is pyplug's end of the socket to a process that forks, or nil for other processes. It is
// safe for concurrent use.
type control struct {
	mu    sync.Mutex // held from a request to its answer
	conn  *net.UnixConn
	limit time.Duration // the timeout of a request
}

// newControl creates a socket. theirs is the child's end.
func newControl() (ours *control, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	own, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	defer own.Close()
	conn, err := net.FileConn(own)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return &control{conn: conn.(*net.UnixConn), limit: answerTime}, theirs, nil
}

func (c *control) close() {
	if c != nil {
		c.conn.Close()
	}
}

// request sends a request with descriptors to a process that forks. It returns the first word of
// the answer and the rest. It kills the process if it does not answer.
func (p *Process) request(text string, descriptors ...int) (word, rest string, err error) {
	c := p.control
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn.SetDeadline(time.Now().Add(c.limit))
	_, _, err = c.conn.WriteMsgUnix([]byte(text), unix.UnixRights(descriptors...), nil)
	buf, n := make([]byte, 4096), 0
	if err == nil {
		n, err = c.conn.Read(buf)
	}
	if err != nil {
		return "", "", p.killForking()
	}
	word, rest, _ = strings.Cut(string(buf[:n]), " ")
	return word, rest, nil
}

// killForking kills a process that violates the protocol.
func (p *Process) killForking() error {
	p.control.close()
	p.tree.kill()
	return ErrNoFork
}

// forkTree makes p fork a worker that gets the files of child as its descriptors.
func (p *Process) forkTree(child []*os.File) (*tree, error) {
	t := &tree{n: running.count.Add(1), lifeline: -1}
	life := newLifeline()
	var descriptors []int
	for _, c := range child[1:] { // the worker already has the null device
		descriptors = append(descriptors, int(c.Fd()))
	}
	if life.r >= 0 {
		descriptors = append(descriptors, life.r)
	}
	pid, err := p.requestFork(t.n, descriptors)
	if err != nil {
		life.close()
		return nil, err
	}
	// The worker is a child of p, or of pyplug if p is gone. Its number cannot be reused until p or
	// pyplug reaps it. If p ignores SIGCHLD, the worker may be gone already.
	t.pid, t.forked = pid, &forked{by: p, pidfd: -1}
	if t.forked.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		life.close()
		if err == unix.ESRCH {
			return nil, p.killForking()
		}
		t.kill()
		t.reap()
		return nil, os.NewSyscallError("pidfd_open", err)
	}
	t.lifeline = life.arm(pid)
	return t, nil
}

// requestFork returns the pid of a worker that p forked as the run's n-th process.
func (p *Process) requestFork(n uint32, descriptors []int) (pid int, err error) {
	word, rest, err := p.request(fmt.Sprintf("fork %d %s", highPlace(), tag(n)), descriptors...)
	if err != nil {
		return 0, err
	}
	number := 0
	switch _, bad := fmt.Sscan(rest, &number); {
	case bad == nil && word == "errno":
		return 0, os.NewSyscallError("fork", syscall.Errno(number))
	case bad == nil && word == "pid" && number > 1:
		return number, nil
	}
	return 0, p.killForking()
}

// death says how to detect the leader's death.
type death struct {
	forked *forked // nil for a child of pyplug
}

// forked describes a leader that another process of pyplug forked. When that process is gone, the
// leader becomes pyplug's child.
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

// takeStatus reaps a dead leader and returns its status.
func (t *tree) takeStatus() (status syscall.WaitStatus, err error) {
	if t.forked == nil {
		return waitFor(t.pid)
	}
	if t.forked.pidfd >= 0 {
		defer unix.Close(t.forked.pidfd)
	}
	word, rest, err := t.forked.by.request(fmt.Sprintf("reap %d", t.pid))
	if err != nil {
		return t.forked.waitFor(t.pid)
	}
	if _, bad := fmt.Sscan(rest, (*uint32)(&status)); word != "status" || bad != nil {
		return status, unix.ECHILD
	}
	return status, nil
}

// waitFor takes the status of the leader after the death of the process that forked it. It returns
// an error if that process had already taken the status, because the number may then belong to
// another process.
func (f *forked) waitFor(pid int) (status syscall.WaitStatus, err error) {
	select {
	case <-f.by.died:
	case <-time.After(sweepTime): // the process hangs, perhaps on a disk
		return status, unix.ECHILD
	}
	if f.pidfd >= 0 {
		for err = unix.EINTR; err == unix.EINTR; {
			err = unix.Waitid(unix.P_PIDFD, f.pidfd, nil, unix.WEXITED|unix.WNOWAIT, nil)
		}
		if err != nil {
			return status, err
		}
	}
	return waitFor(pid)
}
