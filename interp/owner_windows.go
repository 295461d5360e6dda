package interp

import "os"

// ownerOf knows no owner: access lists decide, which are not read.
func ownerOf(path string) (owner, bool) {
	_, err := os.Stat(path)
	return owner{uid: os.Getuid()}, err == nil
}
