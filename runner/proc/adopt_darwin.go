package proc

import "syscall"

// forked is what only Linux has.
type forked struct{}

func (t *tree) takeStatus() (syscall.WaitStatus, int64, error) { return waitFor(t.pid) }
