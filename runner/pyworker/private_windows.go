package pyworker

import (
	"fmt"
	"os"
)

// private refuses what is no directory. A user's cache directory is private by
// its access list on Windows, which a mode does not tell.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	return nil
}
