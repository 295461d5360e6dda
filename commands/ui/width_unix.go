//go:build unix

package ui

import "golang.org/x/sys/unix"

// terminalColumns is the width of a terminal, 0 if unknown.
func terminalColumns(fd uintptr) int {
	size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
