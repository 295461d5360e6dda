//go:build unix

package daemon

import (
	"errors"
	"os"
	"syscall"
)

const supported = true

// held is a name that is taken. It is freed by the process's end, too.
type held struct {
	place
	file *os.File
}

// take takes the name if it is free: ok is false when somebody holds it.
func (p place) take() (h *held, ok bool, err error) {
	for {
		f, err := os.OpenFile(p.lock(), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, false, err
		}
		if ok, err = flock(f, syscall.LOCK_EX); !ok {
			_ = f.Close()
			return nil, false, err
		}
		// The one before removes the file before it frees it.
		if sameFile(f, p.lock()) {
			return &held{p, f}, true, nil
		}
		_ = f.Close()
	}
}

// free gives the name back. The file goes first: who then holds a file that has
// no name knows it, and looks again.
func (h *held) free() {
	_ = os.Remove(h.lock())
	_ = h.file.Close()
}

// taken tells whether somebody holds the name. While it looks, who wants the name
// sees it as held, and tries again.
func (p place) taken() bool {
	f, err := os.OpenFile(p.lock(), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	ok, err := flock(f, syscall.LOCK_SH)
	return !ok && err == nil
}

// flock locks a file without waiting; ok is false when it is locked.
func flock(f *os.File, how int) (ok bool, err error) {
	for {
		switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}

func sameFile(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(open, there)
}
