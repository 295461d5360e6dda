package bounded

import (
	"fmt"
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

// UserCache returns pyplug's directory in the user's cache. The directory may not exist yet. It
// returns an error if the directory would be in a home directory that does not exist: some users
// have no home on purpose, and pyplug must not create one.
func UserCache() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("the user's cache directory is %s, expected an absolute path", dir)
	}
	home, none := os.UserHomeDir()
	if inHome, outside := filepath.Rel(home, dir); none == nil && outside == nil && filepath.IsLocal(inHome) && !Exists(home) {
		return "", fmt.Errorf("the home directory %s does not exist", home)
	}
	return filepath.Join(dir, "pyplug"), nil
}
