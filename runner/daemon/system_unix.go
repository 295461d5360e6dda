//go:build unix

package daemon

import (
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const supported = true

// noFollow makes opening a link fail.
const noFollow = unix.O_NOFOLLOW

// checkPeer rejects a connection of another user.
func checkPeer(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var failed error
	if err := raw.Control(func(fd uintptr) { uid, failed = peerUID(int(fd)) }); err != nil {
		return err
	}
	if failed != nil {
		return os.NewSyscallError("getsockopt", failed)
	}
	if own := os.Geteuid(); uid != own {
		return fmt.Errorf("it belongs to user %d, expected user %d", uid, own)
	}
	return nil
}

// terminate asks a process to end, even a suspended one.
func terminate(p *os.Process) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.Signal(syscall.SIGCONT)
}

// redirect makes a file the standard output and standard error of this process.
func redirect(f *os.File) error {
	for fd := 1; fd <= 2; fd++ {
		if err := duplicate(int(f.Fd()), fd); err != nil {
			return &os.PathError{Op: "dup", Path: f.Name(), Err: err}
		}
	}
	return nil
}

// detached starts a process in its own session.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// inheritedPipe reports whether a descriptor is a pipe, and makes child processes not inherit it.
func inheritedPipe(fd int) bool {
	var stat syscall.Stat_t
	if syscall.Fstat(fd, &stat) != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return false
	}
	syscall.CloseOnExec(fd)
	return true
}
