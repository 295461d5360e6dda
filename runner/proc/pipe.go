package proc

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// quiet is how long a pipe may stay silent after the process is gone: then whoever
	// still holds its other end has escaped.
	quiet = 200 * time.Millisecond
	// maxLate is more than a pipe can hold. What comes beyond it after the process is
	// gone is not from the process.
	maxLate = 2 << 20
)

// outputPipe is our read end of a pipe from the process. It reads like the file until
// the process is gone. From then on silence is the end, so that everything that was
// written before is read, however slow the reader is.
type outputPipe struct {
	*os.File
	raw         syscall.RawConn
	number      int // of the descriptor, and of another one after Close
	gone        atomic.Bool
	late        int         // bytes read since the process is gone
	undelivered atomic.Bool // something was read with take, and is not delivered yet
}

func newOutputPipe(f *os.File) (*outputPipe, error) {
	raw, err := f.SyscallConn()
	o := &outputPipe{File: f, raw: raw}
	if err == nil {
		err = raw.Control(func(fd uintptr) { o.number = int(fd) })
	}
	return o, err
}

// Read returns [io.EOF] at the end of the pipe, or when nothing more is to be
// expected.
func (p *outputPipe) Read(b []byte) (int, error) {
	return p.bounded(func() (int, error) { return p.File.Read(b) })
}

// take reads like Read and sets undelivered before the bytes leave the pipe.
func (p *outputPipe) take(b []byte) (int, error) {
	return p.bounded(func() (int, error) { return p.readMarked(b) })
}

func (p *outputPipe) bounded(read func() (int, error)) (int, error) {
	gone := p.gone.Load()
	if gone {
		if p.late > maxLate {
			return 0, io.EOF
		}
		p.File.SetReadDeadline(time.Now().Add(quiet))
	}
	n, err := read()
	if gone {
		p.late += n
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

// processGone reports that the process is gone. A read that waits gets the quiet time
// from now.
func (p *outputPipe) processGone() {
	p.gone.Store(true)
	p.File.SetReadDeadline(time.Now().Add(quiet))
}

// settled reports whether nothing is in the pipes or being delivered. The order
// matters: what left a pipe before is marked, or delivered.
func settled(pipes []*outputPipe) bool {
	return !hasInput(pipes) && !slices.ContainsFunc(pipes, func(o *outputPipe) bool { return o.undelivered.Load() })
}

// Settle waits at most limit until what the process has written so far has been
// delivered to OnLine, so that what it printed can be shown before what it answered.
// Windows does not tell what is in a pipe.
func (p *Process) Settle(limit time.Duration) {
	if settled(p.drained) {
		return
	}
	end := time.Now().Add(limit)
	for pause := 20 * time.Microsecond; !settled(p.drained) && time.Now().Before(end); pause = min(2*pause, time.Millisecond) {
		time.Sleep(pause)
	}
}

// Conn is the pair of pipes that a process started with Talk has as its standard input
// and output. One goroutine may read while another writes; both may be slow. Whoever
// started the process closes it, unless [Process.Stop] or [Process.Kill] does.
type Conn struct {
	in  *os.File    // the child's standard input
	out *outputPipe // the child's standard output
}

// Read reads what the process wrote. It returns [io.EOF] if the process is gone or has
// closed its end, [os.ErrClosed] after Close.
func (c *Conn) Read(b []byte) (int, error) { return c.out.Read(b) }

// Write writes to the process and blocks while the pipe is full. It returns EPIPE if
// the process no longer reads, [os.ErrClosed] after CloseWrite or Close.
func (c *Conn) Write(b []byte) (int, error) { return c.in.Write(b) }

// CloseWrite ends the process's standard input. What it writes can still be read.
func (c *Conn) CloseWrite() error { return c.in.Close() }

// Close ends both directions, and reads and writes that wait. The process lives on.
// Closing twice is harmless.
func (c *Conn) Close() error {
	if c == nil {
		return nil
	}
	c.in.Close()
	c.out.Close()
	return nil
}
