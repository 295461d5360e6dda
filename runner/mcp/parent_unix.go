//go:build unix

package mcp

import (
	"os"
	"time"
)

const (
	// launcherTime is the time after the start within which an exited parent counts as a launcher,
	// such as npx, rather than as the client.
	launcherTime = time.Second
	// parentEvery is the interval between two checks of the parent.
	parentEvery = 250 * time.Millisecond
)

// ParentGone returns a channel that is closed when the client that started this process has exited.
// The input may stay open after that, because another process may hold it open.
func ParentGone() <-chan struct{} {
	gone, parent := make(chan struct{}), os.Getppid()
	go func() { // ends with the parent or with this process
		time.Sleep(launcherTime)
		if os.Getppid() != parent {
			return
		}
		for os.Getppid() == parent {
			time.Sleep(parentEvery)
		}
		close(gone)
	}()
	return gone
}
