//go:build unix

package proc

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Exec replaces this process by a tool. The tool has the terminal and an open file, whose
// descriptor is its last argument. Exec returns only if it fails. Nothing supervises the tool.
func Exec(t Tool, file *os.File) error {
	if t.Dir != "" {
		if err := os.Chdir(t.Dir); err != nil {
			return err
		}
	}
	number, err := syscall.Dup(int(file.Fd())) // the copy is not close-on-exec
	if err != nil {
		return err
	}
	args := append(append([]string{t.Path}, t.Args...), strconv.Itoa(number))
	return fmt.Errorf("%s: %w", t.Path, syscall.Exec(t.Path, args, t.Env))
}
