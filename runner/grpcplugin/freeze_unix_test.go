//go:build !windows

package grpcplugin_test

import (
	"os"
	"syscall"
)

// freeze stops the whole process, which then answers nothing.
func freeze() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
		panic(err)
	}
	hang() // this thread may run for a moment after Kill returns
}
