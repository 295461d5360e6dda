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
func (c *Conn) ReadNow(b []byte) (int, error) {
	l := c.out
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

// Wait returns when ReadNow has something to tell, or after Wake. It is the only
// one that may run beside ReadNow and [Process.Await]. [io.EOF] when the process is
// gone and nothing more is to be expected, [os.ErrClosed] after Close.
func (c *Conn) Wait() error {
	raw, err := c.out.File.SyscallConn()
	if err != nil {
		return err
	}
	if c.out.gone.Load() {
		c.out.File.SetReadDeadline(time.Now().Add(quiet))
	}
	woken := false
	err = raw.Read(func(fd uintptr) bool {
		if woken { // most likely by what came
			return true
		}
		woken = true
		one := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, _ := unix.Poll(one[:], 0)
		return n != 0 // an error, such as EINTR, is for ReadNow to see
	})
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return os.ErrClosed
	case c.out.gone.Load():
		return io.EOF
	}
	return c.out.File.SetReadDeadline(time.Time{})
}

// Wake makes Wait return.
func (c *Conn) Wake() { c.out.File.SetReadDeadline(time.Now()) }

// Await waits in this thread, which is quicker by far than to have this
// goroutine woken, until ReadNow has something to tell, at most limit. Settled
// tells then what [Process.Settled] does. No other goroutine gets this one's
// place while it waits: limit is to be short.
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
	return err == nil && fds[0].Revents != 0, fds[1].Revents == 0 && printed.waiting.Load()
}
