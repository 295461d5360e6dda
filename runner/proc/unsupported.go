//go:build !linux

package proc

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// CanFork returns false, because only Linux supports [Process.Fork].
func CanFork() bool { return false }

type control struct{}

func newControl() (*control, *os.File, error) { return nil, nil, errors.ErrUnsupported }

func (*control) close() {}

func (p *Process) forkTree([]*os.File) (*tree, error) { return nil, errors.ErrUnsupported }

// canLimit returns an error, because this system does not report the memory of a process tree.
func canLimit() error {
	return fmt.Errorf("memory limits work on Linux only: %w", errors.ErrUnsupported)
}

func (t *tree) memoryAtMost() int64 { return 0 }
func (t *tree) memory() int64       { return 0 }
func (t *tree) cpu() time.Duration  { return 0 }

// oomKills returns 0, because only Linux has the count.
func oomKills() int64 { return 0 }
