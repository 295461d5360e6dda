//go:build !linux

package proc

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// canLimit says that this system does not tell what a tree takes.
func canLimit() error {
	return fmt.Errorf("limits of memory and CPU are held on Linux only, and this is %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func (t *tree) memoryAtMost() int64 { return 0 }
func (t *tree) memory() int64       { return 0 }
func (t *tree) cpu() time.Duration  { return 0 }
func (t *tree) suspend() error      { return errors.ErrUnsupported }
func (t *tree) resume()             {}
