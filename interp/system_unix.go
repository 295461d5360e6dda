//go:build unix

package interp

import (
	"io/fs"
	"os"
	"syscall"
)

// ownerOf says who owns a file, links followed; false if it cannot be looked at.
func ownerOf(path string) (owner, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return owner{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, false
	}
	writable := info.Mode().Perm()&0o002 != 0
	return owner{uid: int(st.Uid), device: uint64(st.Dev), shared: writable, sticky: info.Mode()&fs.ModeSticky != 0}, true
}

// readRegistry lists nothing: other systems have no registry.
func readRegistry() []registration { return nil }

// readReparse reads nothing: other systems have no reparse points.
func readReparse(string) []byte { return nil }
