package wire

import "strconv"

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
	size, modified, ok := executable()
	if !ok {
		return ""
	}
	return "devel " + strconv.FormatInt(size, 10) + " " + strconv.FormatInt(modified, 10)
}
