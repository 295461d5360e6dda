//go:build unix

package daemon

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// noFollow makes opening a link fail.
	noFollow = unix.O_NOFOLLOW
	// noSockets is the error of a system without Unix sockets.
	noSockets = unix.EAFNOSUPPORT
	// starterPipe is the descriptor of the pipe on which a daemon reports to the [Spawn] that
	// started it.
	starterPipe = 3
)

// openFile opens a file that others can rename or remove while it is open.
func openFile(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0o600) }

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

// detach makes a command start in its own session, with nothing of this process but the pipe.
func detach(cmd *exec.Cmd, pipe *os.File) (warning string) {
	concealDescriptors()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.ExtraFiles = []*os.File{pipe} // becomes starterPipe
	return ""
}

// inheritedPipe returns the pipe of [detach], or nil if this process has none. Its child processes
// do not inherit it.
func inheritedPipe() *os.File {
	var stat syscall.Stat_t
	if syscall.Fstat(starterPipe, &stat) != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil
	}
	syscall.CloseOnExec(starterPipe)
	return os.NewFile(starterPipe, "starter")
}
