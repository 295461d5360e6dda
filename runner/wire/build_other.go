//go:build !linux

package wire

import "os"

// executable tells the size and the time, in nanoseconds, of the file that runs.
func executable() (size, modified int64, ok bool) {
	path, err := os.Executable()
	if err != nil {
		return 0, 0, false
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, false
	}
	return info.Size(), info.ModTime().UnixNano(), true
}
