package ui

import "golang.org/x/sys/windows"

// terminalColumns is the width of a console's window, 0 if unknown.
func terminalColumns(fd uintptr) int {
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(windows.Handle(fd), &info); err != nil {
		return 0
	}
	return int(info.Window.Right-info.Window.Left) + 1
}
