package bounded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file with the given mode, or replaces it, at once: others see the old text or
// the new one. After an error the old one is there. A link is replaced by a file.
func Replace(path string, text []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Chmod(mode), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
