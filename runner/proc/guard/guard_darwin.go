package guard

import (
	"os"
	"syscall"
)

// blend keeps the guard from holding a directory. It has its own session, so
// a terminal's signals do not reach it.
func blend() { os.Chdir("/") }

// killMarked finds nothing: macOS does not show the environment of another
// process reliably, which is why the guard is told the groups there.
func killMarked(Run) bool { return false }

// takeMark does nothing: there is no such mark on macOS.
func takeMark(uint64) {}

func rest() {
	pause := syscall.Timeval{Usec: 1000}
	syscall.Select(0, nil, nil, nil, &pause)
}
