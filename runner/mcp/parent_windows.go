package mcp

import (
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// launcherTime is the time after the start within which an exited parent counts as a launcher,
// such as npx, rather than as the client.
const launcherTime = time.Second

// ParentGone returns a channel that is closed when the client that started this process has exited.
// The input may stay open after that, because another process may hold it open.
func ParentGone() <-chan struct{} {
	gone := make(chan struct{})
	parent, err := windows.OpenProcess(windows.SYNCHRONIZE|windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(os.Getppid()))
	if err != nil || !isOlder(parent) { // a launcher has exited; another process may have its number
		return gone
	}
	go func() { // ends with the parent or with this process
		defer windows.CloseHandle(parent)
		event, err := windows.WaitForSingleObject(parent, uint32(launcherTime.Milliseconds()))
		if err != nil || event != uint32(windows.WAIT_TIMEOUT) {
			return
		}
		if event, err = windows.WaitForSingleObject(parent, windows.INFINITE); err == nil && event == windows.WAIT_OBJECT_0 {
			close(gone)
		}
	}()
	return gone
}

// isOlder reports whether a process was started before this one.
func isOlder(process windows.Handle) bool {
	var its, ours, ignored windows.Filetime
	return windows.GetProcessTimes(process, &its, &ignored, &ignored, &ignored) == nil &&
		windows.GetProcessTimes(windows.CurrentProcess(), &ours, &ignored, &ignored, &ignored) == nil &&
		its.Nanoseconds() <= ours.Nanoseconds()
}
