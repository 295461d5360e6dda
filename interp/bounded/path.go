package bounded

import (
	"os"
	"path/filepath"
)

// Exists reports whether a path leads to something. It follows links.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Real returns a path with its links resolved, or the clean path itself if that fails.
func Real(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
