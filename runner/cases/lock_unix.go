//go:build unix

package cases

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/hook"
)

// lock locks a file until it is closed, or the process ends. Locks of this kind report their
// holder.
func lock(f *os.File) error {
	want := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &want)
	if !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
		return os.NewSyscallError("fcntl", err)
	}
	holder := "another process"
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &want); err == nil && want.Type != unix.F_UNLCK && want.Pid > 0 {
		holder = fmt.Sprintf("process %d", want.Pid)
	}
	return hook.NewError(hook.Unavailable, fmt.Errorf("record: %s is in use by %s", f.Name(), holder))
}
