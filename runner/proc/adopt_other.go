//go:build !linux

package proc

import (
	"errors"
	"os"
)

// CanFork tells whether this system can do [Process.Fork]: Linux alone can.
func CanFork() bool { return false }

// control is what only Linux has.
type control struct{}

func newControl() (*control, *os.File, error) { return nil, nil, errors.ErrUnsupported }

func (*control) close() {}

func (*control) bears() (born func()) { return func() {} }

func (*control) barren() {}

func (p *Process) bear([3]*os.File) (*tree, error) { return nil, errors.ErrUnsupported }

func (t *tree) firstMemory() int64 { return ownMemory() }
