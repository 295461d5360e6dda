package guard

import (
	"os"
	"syscall"
)

// detach keeps the guard from holding a directory, and from getting the signals of a
// terminal.
func detach() {
	syscall.Setsid()
	os.Chdir("/")
}

// killTagged finds nothing: macOS does not reliably show the environment of another
// process. Therefore pyplug reports the groups there.
func killTagged(Run) bool { return false }

func pause() {
	millisecond := syscall.Timeval{Usec: 1000}
	syscall.Select(0, nil, nil, nil, &millisecond)
}
