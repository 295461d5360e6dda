//go:build unix

package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// control calls do with a connection's descriptor.
func control(c *net.UnixConn, do func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var done error
	if err := raw.Control(func(fd uintptr) { done = do(int(fd)) }); err != nil {
		return err
	}
	return done
}

// checkPeer rejects a connection of another user.
func checkPeer(c *net.UnixConn) error {
	uid, err := peerUID(c)
	if err != nil {
		return err
	}
	if own := os.Geteuid(); uid != own {
		return fmt.Errorf("it is of user %d, and this is user %d's", uid, own)
	}
	return nil
}

// signal sends a signal to the process that an identity names, and to no other
// process that has got its number since. A process that is gone is no error.
func (id Identity) signal(s syscall.Signal) error {
	if id.PID <= 1 || id.PID == os.Getpid() || id.Mark == "" || id.Boot != bootMark() {
		return errors.New("it is not known to be another process of this boot")
	}
	p, err := os.FindProcess(id.PID) // holds the process, not its number, where the system can
	if err != nil {
		return err
	}
	defer func() { _ = p.Release() }()
	if processMark(id.PID) != id.Mark {
		return nil
	}
	if err := p.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// redirect makes a file our standard output and standard error.
func redirect(f *os.File) error {
	for fd := 1; fd <= 2; fd++ {
		if err := duplicate(f, fd); err != nil {
			return &os.PathError{Op: "dup", Path: f.Name(), Err: err}
		}
	}
	return nil
}

// detached starts a process in a session of its own.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// signalOf names the signal that ended a process; "" if none did.
func signalOf(s *os.ProcessState) string {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}

// terminate asks a process to end.
func terminate(p *os.Process) { _ = p.Signal(syscall.SIGTERM) }

// inheritedPipe reports whether a descriptor is a pipe, and keeps it from the
// processes we start.
func inheritedPipe(fd int) bool {
	var stat syscall.Stat_t
	if syscall.Fstat(fd, &stat) != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return false
	}
	syscall.CloseOnExec(fd)
	return true
}
