package proc

import (
	"errors"
	"os"
)

// Exec replaces no process on Windows.
func Exec(Tool, *os.File) error {
	return errors.New("Windows cannot replace a process by another one")
}
