//go:build unix

package daemon

import (
	"errors"
	"os"
	"syscall"
)

const supported = true

// noFollow makes open fail at a link and not wait at a named pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// held is an acquired name. The end of the process releases it, too.
type held struct {
	place
	file *os.File
}

// acquire acquires the name. ok is false if a process holds the lock, or listens at
// the socket after its lock file was removed.
func (p place) acquire() (h *held, ok bool, err error) {
	for {
		f, err := openFile(p.lock(), os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, false, err
		}
		if ok, err = flock(f, syscall.LOCK_EX); !ok {
			_ = f.Close()
			return nil, false, err
		}
		switch {
		case !sameFile(f, p.lock()): // its holder removed it before releasing the lock
			_ = f.Close()
		case p.answers():
			_ = f.Close()
			return nil, false, nil
		default:
			return &held{p, f}, true, nil
		}
	}
}

// owns reports whether the name is still held: the lock file is the locked one.
func (h *held) owns() bool { return sameFile(h.file, h.lock()) }

// release releases the name. It removes the lock file first; a process that has
// opened the removed file notices that in acquire.
func (h *held) release() {
	if h.owns() {
		_ = os.Remove(h.lock())
	}
	_ = h.file.Close()
}

// locked reports whether a process holds the lock. A concurrent acquire fails while
// it checks, and is repeated.
func (p place) locked() bool {
	f, err := openFile(p.lock(), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	ok, err := flock(f, syscall.LOCK_SH)
	return !ok && err == nil
}

// flock locks a file without waiting. ok is false if it is locked.
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

// busy reports whether a connect failed because too many connections wait to be
// accepted.
func busy(err error) bool { return errors.Is(err, syscall.EAGAIN) }
