//go:build linux || darwin

package proc

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ReadNow reads what is there and does not wait: [ErrNotYet] when nothing is.
// Otherwise it is Read.
func (c *Conn) ReadNow(b []byte) (int, error) { return c.out.readNow(b) }

// Wait returns when ReadNow has something to tell, after Wake, and sometimes for
// nothing. It is the only one that may run beside ReadNow and [Process.Await].
// [io.EOF] when the process is gone and nothing more is to be expected,
// [os.ErrClosed] after Close.
func (c *Conn) Wait() error { return c.out.wait() }

// Wake makes Wait return.
func (c *Conn) Wake() { c.out.File.SetReadDeadline(time.Now()) }

// Await waits in this thread, which is quicker by far than to have this
// goroutine woken, until ReadNow has something to tell, at most limit. Settled
// tells then what [Process.Settled] does. It is for a process started with Talk. No
// other goroutine gets this one's place while it waits: limit is to be short.
func (p *Process) Await(limit time.Duration) (ready, settled bool) {
	answers, printed := p.conn.out, p.drained[0]
	// In this order: what was printed before the answer is seen once that is.
	fds := [2]unix.PollFd{
		{Fd: int32(answers.descriptor()), Events: unix.POLLIN},
		{Fd: int32(printed.descriptor()), Events: unix.POLLIN}, // poll passes over -1
	}
	defer answers.release()
	defer printed.release()
	_, err := unix.Poll(fds[:], int(limit/time.Millisecond))
	return err == nil && fds[0].Revents != 0, fds[1].Revents&unix.POLLIN == 0 && printed.idle()
}

// empty tells whether nothing waits in the pipe. A closed one has nothing.
func (l *lingering) empty() bool {
	one := [1]unix.PollFd{{Fd: int32(l.descriptor()), Events: unix.POLLIN}}
	defer l.release()
	_, _ = unix.Poll(one[:], 0) // where it fails nothing is told
	return one[0].Revents&unix.POLLIN == 0
}

// take reads what comes, and holds the stream until passed.
func (l *lingering) take(b []byte) (int, error) {
	for {
		l.hand.Lock()
		n, err := l.readNow(b)
		if !errors.Is(err, ErrNotYet) {
			return n, err
		}
		l.passed() // somebody may have seen it held
		if err := l.wait(); err != nil {
			l.hand.Lock()
			return 0, err
		}
	}
}

// readNow reads what is there; [ErrNotYet] when nothing is.
func (l *lingering) readNow(b []byte) (int, error) {
	if l.gone.Load() && l.late > pipeMost {
		return 0, io.EOF
	}
	fd := l.descriptor()
	defer l.release()
	if fd < 0 {
		return 0, os.ErrClosed
	}
	for {
		switch n, err := unix.Read(fd, b); {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return 0, ErrNotYet
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		default:
			if l.gone.Load() {
				l.late += n
			}
			return n, nil
		}
	}
}

// wait waits until readNow has something to tell.
func (l *lingering) wait() error {
	raw, err := l.File.SyscallConn()
	if err != nil {
		return err
	}
	if l.gone.Load() {
		l.File.SetReadDeadline(time.Now().Add(quiet))
	}
	woken := false
	err = raw.Read(func(fd uintptr) bool {
		if woken { // most likely by what came
			return true
		}
		woken = true
		one := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, _ := unix.Poll(one[:], 0)
		return n != 0 // an error, such as EINTR, is for readNow to see
	})
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return os.ErrClosed
	case l.gone.Load():
		return io.EOF
	}
	return l.File.SetReadDeadline(time.Time{})
}
