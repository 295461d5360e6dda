package interp

import (
	"fmt"
	"io/fs"
	"syscall"
)

// stamp changes whenever a file does, also if its time is set back.
func stamp(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprint(st.Dev, st.Ino, st.Size, st.Mtimespec.Nano(), st.Ctimespec.Nano())
}
