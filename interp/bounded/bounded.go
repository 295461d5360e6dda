package bounded

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"syscall"
)

// ErrIrregular is the error for a path that exists but is not a regular file, such as a
// directory, a pipe or a device.
var ErrIrregular = errors.New("it is not a regular file")

// ErrLarge is the error for a file that is larger than the caller's limit.
var ErrLarge = errors.New("it is too large")

// Open opens a regular file. The error is a [*fs.PathError].
func Open(path string) (*os.File, fs.FileInfo, error) {
	file, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrIrregular}
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, nil, err
	}
	return file, info, nil
}

// open opens a file without waiting. Even a pipe without a writer does not block it.
func open(path string) (*os.File, error) {
	flag := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK
	}
	return os.OpenFile(path, flag, 0)
}

// Read reads a regular file of at most the given number of bytes. info describes the file before
// the read.
func Read(path string, most int64) (content []byte, info fs.FileInfo, err error) {
	file, info, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	if info.Size() <= most {
		content, err = io.ReadAll(io.LimitReader(file, most+1))
	}
	if err == nil && max(info.Size(), int64(len(content))) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: it has more than %d bytes", ErrLarge, most)}
	}
	if err != nil {
		return nil, info, err
	}
	return content, info, nil
}

// Head returns the text of at most the given number of bytes at the start of a regular file, see
// [Text]. If it returns an error, it also returns the text that it read before.
func Head(path string, most int64) (string, error) {
	file, _, err := Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, most))
	return Text(content), err
}

// maxEntries is the largest number of entries that [Dir] returns.
const maxEntries = 10000

// Dir lists at most 10 000 entries of a directory, sorted by name. If it returns an error, it also
// returns the entries that it read before.
func Dir(path string) ([]fs.DirEntry, error) {
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	entries, err := file.ReadDir(maxEntries)
	if errors.Is(err, io.EOF) { // the directory is empty
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}
