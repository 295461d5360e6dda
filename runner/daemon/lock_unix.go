//go:build unix

package daemon

import (
	"errors"
	"os"
	"syscall"
)

const supported = true

// noDetour has what is opened be what the path names, at once: no link is followed,
// and nobody is waited for who opens the other end of a pipe.
const noDetour = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// held is a name that is taken. It is freed by the process's end, too.
type held struct {
	place
	file *os.File
}

// take takes the name if it is free: ok is false when somebody holds it, or answers
// at its socket: a daemon whose lock file was removed, as those do who clear /tmp.
func (p place) take() (h *held, ok bool, err error) {
	f, ok, err := p.lockFile()
	if !ok {
		return nil, false, err
	}
	if p.answers() {
		_ = f.Close()
		return nil, false, nil
	}
	return &held{p, f}, true, nil
}

// lockFile locks the file of the name, which it makes where there is none.
func (p place) lockFile() (f *os.File, ok bool, err error) {
	for {
		f, err := openFile(p.lock(), os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, false, err
		}
		if ok, err = flock(f, syscall.LOCK_EX); !ok {
			_ = f.Close()
			return nil, false, err
		}
		// The one before removes the file before it frees it.
		if sameFile(f, p.lock()) {
			return f, true, nil
		}
		_ = f.Close()
	}
}

// owns tells whether the name is still held: its lock file is the one that is
// locked.
func (h *held) owns() bool { return sameFile(h.file, h.lock()) }

// retake takes the name again whose lock file is another one, or none. bound tells
// that the socket is still ours, which keeps all others from it meanwhile.
func (h *held) retake(bound bool) bool {
	if h.owns() {
		return true
	}
	var f *os.File
	if bound {
		f, _, _ = h.lockFile()
	} else if again, ok, _ := h.take(); ok {
		f = again.file
	}
	if f == nil {
		return false
	}
	_ = h.file.Close()
	h.file = f
	return true
}

// free gives the name back. The file goes first: who then holds a file that has
// no name knows it, and looks again.
func (h *held) free() {
	if h.owns() {
		_ = os.Remove(h.lock())
	}
	_ = h.file.Close()
}

// locked tells whether somebody holds the lock. While it looks, who wants the name
// sees it as held, and tries again.
func (p place) locked() bool {
	f, err := openFile(p.lock(), os.O_RDONLY)
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

// busy tells whether an error says that there is one who listens, and has so many
// connections waiting that no more are taken.
func busy(err error) bool { return errors.Is(err, syscall.EAGAIN) }
