package proc

import (
	"errors"
	"os"
)

// Exec returns an error.
func Exec(Tool, *os.File) error {
	return errors.New("Windows cannot replace a process by another one")
}
