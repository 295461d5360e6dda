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

// ErrIrregular is the error of what is there and no regular file: a directory, a pipe, a device.
var ErrIrregular = errors.New("it is not a regular file")

// ErrLarge is the error of a file with more bytes than its reader wants.
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

// open never waits, not even for the writer of a pipe.
func open(path string) (*os.File, error) {
	flag := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK
	}
	return os.OpenFile(path, flag, 0)
}

// Read reads a regular file of at most the given number of bytes. info is of the file before it
// was read.
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

// Head reads the first bytes of a regular file, at most the given number. What was read before an
// error counts.
func Head(path string, most int64) (string, error) {
	file, _, err := Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, most))
	return string(content), err
}

// mostEntries is the most entries that [Dir] reads of a directory.
const mostEntries = 10000

// Dir lists a directory, sorted by name; of a large one it lists 10 000 entries. What was read
// before an error counts.
func Dir(path string) ([]fs.DirEntry, error) {
	file, err := open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	entries, err := file.ReadDir(mostEntries)
	if errors.Is(err, io.EOF) { // it is empty
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}
