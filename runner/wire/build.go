package wire

import (
	"os"
	"strconv"
)

// Release is the version of a release, which the linker sets; else "".
var Release = ""

// Build tells builds of pyplug apart, in few microseconds: two with the same
// text are the same. It is the release's version; what is no release goes by
// its file's size and time, since only packages that start late know more.
// It is "" where the file cannot be found.
func Build() string {
	if Release != "" {
		return Release
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return "devel " + strconv.FormatInt(info.Size(), 10) + " " + strconv.FormatInt(info.ModTime().UnixNano(), 10)
}
