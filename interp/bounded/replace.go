package bounded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file with the given mode atomically: others read either the old text or the
// new one. After an error the old text remains. If path is a link, the file replaces the link.
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
