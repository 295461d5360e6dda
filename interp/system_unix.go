//go:build unix

package interp

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/pyplug/pyplug/interp/bounded"
)

// registered returns nothing: only Windows has a registry of Pythons.
func registered() []string { return nil }

// ownerOf returns the owner of a file. It follows links. It returns false if the file cannot be
// examined.
func ownerOf(path string) (owner, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return owner{}, false
	}
	st := info.Sys().(*syscall.Stat_t)
	writable := info.Mode().Perm()&0o002 != 0
	return owner{uid: bounded.Owner(info), device: uint64(st.Dev), shared: writable, sticky: info.Mode()&fs.ModeSticky != 0}, true
}
