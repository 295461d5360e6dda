//go:build !linux && !darwin

package interp

import "io/fs"

// stamp is empty: nothing is cached here.
func stamp(fs.FileInfo) string { return "" }
