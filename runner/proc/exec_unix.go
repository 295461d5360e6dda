//go:build unix

package proc

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Exec replaces this process by a tool, with the terminal and a file, whose number is its last argument. It returns
// only errors. Nobody supervises the tool.
func Exec(t Tool, file *os.File) error {
	if t.Dir != "" {
		if err := os.Chdir(t.Dir); err != nil {
			return err
		}
	}
	number, err := syscall.Dup(int(file.Fd())) // a copy stays open
	if err != nil {
		return err
	}
	args := append(append([]string{t.Path}, t.Args...), strconv.Itoa(number))
	return fmt.Errorf("%s: %w", t.Path, syscall.Exec(t.Path, args, t.Env))
}
