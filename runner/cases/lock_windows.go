package cases

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"

	"github.com/pyplug/pyplug/runner/hook"
)

// lock locks a file until it is closed. It locks a byte far beyond the end of the file, because
// other processes cannot read locked bytes.
func lock(f *os.File) error {
	far := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, far)
	if err == windows.ERROR_LOCK_VIOLATION {
		return hook.NewError(hook.Unavailable, fmt.Errorf("record: %s is in use by another process", f.Name()))
	}
	return os.NewSyscallError("LockFileEx", err)
}
