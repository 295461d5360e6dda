//go:build unix

package commands

import (
	"os"
	"os/signal"
	"syscall"
)

func notifyBrokenPipe(c chan<- os.Signal) { signal.Notify(c, syscall.SIGPIPE) }
