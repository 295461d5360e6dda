//go:build !linux

package proc

import (
	"errors"
	"fmt"
	"runtime"
)

// canLimit reports that this system does not tell what a tree uses.
func canLimit() error {
	return fmt.Errorf("memory limits work on Linux only, and this is %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func (t *tree) memoryAtMost() int64 { return 0 }
func (t *tree) memory() int64       { return 0 }
