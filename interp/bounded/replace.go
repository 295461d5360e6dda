package bounded

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged is the error for a file that has changed since the caller read it.
var ErrChanged = errors.New("it has changed")

// NewPrefix begins the name of the temporary file that [Replace] writes in the directory of the
// file.
const NewPrefix = ".new-"

// Replace writes a file with the given mode atomically: readers get either the old text or the new
// one. After an error the old text remains. If path is a link, the file replaces the link.
func Replace(path string, text []byte, mode fs.FileMode) error {
	return replace(path, text, mode, func() error { return nil })
}

// Rewrite atomically replaces the content of a file with text, if the content equals old. It keeps
// the mode. If path is a link, it replaces the target of the link. It returns [ErrChanged] if the
// file does not exist or its content is neither old nor text.
func Rewrite(path string, old, text []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	}
	if err != nil {
		return err
	}
	now, info, err := Read(path, int64(max(len(old), len(text))))
	switch {
	case errors.Is(err, ErrLarge), errors.Is(err, ErrIrregular), errors.Is(err, fs.ErrNotExist):
		return ErrChanged
	case err != nil:
		return err
	case bytes.Equal(now, text):
		return nil
	}
	return replace(path, text, info.Mode(), func() error {
		if now, _, err := Read(path, int64(len(old))); err != nil || !bytes.Equal(now, old) {
			return ErrChanged
		}
		return nil
	})
}

// replace is like [Replace], but calls check before it renames the temporary file to path. After an
// error, also of check, the file is unchanged.
func replace(path string, text []byte, mode fs.FileMode, check func() error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), NewPrefix+"*")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Chmod(mode), temp.Close()); err == nil {
		err = check()
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
