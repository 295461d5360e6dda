//go:build !linux

package proc

import (
	"errors"
	"os"
	"sync"
)

// CanFork reports whether this system supports [Process.Fork]: only Linux does.
func CanFork() bool { return false }

type control struct{ forking sync.RWMutex }

func newControl() (*control, *os.File, error) { return nil, nil, errors.ErrUnsupported }

func (*control) close()      {}
func (*control) awaitForks() {}

func (p *Process) forkTree([3]*os.File) (*tree, error) { return nil, errors.ErrUnsupported }

func (t *tree) startMemory() int64 { return ownMemory() }
