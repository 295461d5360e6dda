package guard

import (
	"os"
	"syscall"
)

// detach keeps the guard from holding a directory. It has its own session, so that it
// does not get a terminal's signals.
func detach() { os.Chdir("/") }

// killTagged finds nothing: macOS does not reliably show the environment of another
// process. Therefore pyplug reports the groups there.
func killTagged(Run, map[string]bool) bool { return false }

func pause() {
	millisecond := syscall.Timeval{Usec: 1000}
	syscall.Select(0, nil, nil, nil, &millisecond)
}
