package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// quiet is how long a pipe may be silent after the process is gone. After that, only an escaped
	// process can hold its other end.
	quiet = 200 * time.Millisecond
	// maxLate is more than a pipe can contain. Further bytes after the process is gone come from
	// another process.
	maxLate = 2 << 20
)

// outputPipe is the read end of a pipe from the process. After the process is gone, a pause counts
// as the end of the pipe. So everything written before is read, however slow the reader is, even if
// an escaped process holds the other end.
type outputPipe struct {
	*os.File    // reads wait on it
	raw         syscall.RawConn
	number      int    // the pipe's descriptor; after Close it may belong to another file
	closePipe   func() // nil if File is the pipe
	gone        atomic.Bool
	late        int         // bytes read since the process is gone
	undelivered atomic.Bool // bytes from Read have not been delivered yet
	delivered   chan<- struct{}
}

// deliver records that all bytes from Read have been delivered, and wakes [Process.Settle].
func (p *outputPipe) deliver() {
	p.undelivered.Store(false)
	select {
	case p.delivered <- struct{}{}:
	default: // already woken, or no call of Settle waits
	}
}

func newOutputPipe(f *os.File) (*outputPipe, error) {
	raw, err := f.SyscallConn()
	o := &outputPipe{File: f, raw: raw}
	if err == nil {
		err = raw.Control(func(fd uintptr) { o.number = int(fd) })
	}
	return o, err
}

// Close ends a read that waits. Closing twice is harmless.
func (p *outputPipe) Close() error {
	err := p.File.Close() // returns when no call uses the file
	if err == nil && p.closePipe != nil {
		p.closePipe()
	}
	return err
}

// Read sets undelivered before the bytes leave the pipe. It returns [io.EOF] at the end of the
// pipe, or when no more output is expected.
func (p *outputPipe) Read(b []byte) (int, error) {
	gone := p.gone.Load()
	if gone {
		if p.late > maxLate {
			return 0, io.EOF
		}
		p.File.SetReadDeadline(time.Now().Add(quiet))
	}
	n, err := p.readMarked(b)
	if gone {
		p.late += n
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

// processGone records that the process is gone. A read in progress then waits for at most the quiet
// time.
func (p *outputPipe) processGone() {
	p.gone.Store(true)
	p.File.SetReadDeadline(time.Now().Add(quiet))
}

// settled reports whether the pipes are empty and everything was delivered. It checks the pipes
// first, because bytes that have left a pipe are marked until they are delivered.
func settled(pipes []*outputPipe) bool {
	return !hasInput(pipes) && !slices.ContainsFunc(pipes, func(o *outputPipe) bool { return o.undelivered.Load() })
}

// Settle waits until OnLine has received everything that the process has written so far, so that
// its output appears before its answer. It waits at most for limit. Windows does not report how
// much is in a pipe, so there Settle waits only for bytes that have been read. Only one goroutine
// at a time may call it.
func (p *Process) Settle(limit time.Duration) {
	if settled(p.drained) {
		return
	}
	end := time.NewTimer(limit)
	defer end.Stop()
	for !settled(p.drained) {
		select {
		case <-p.delivered:
		case <-end.C:
			return
		}
	}
}

// Descriptors are the descriptors in a process that was started with Talk. On Windows, In, Out and
// Event are handles, and differ between processes.
type Descriptors struct {
	In, Out int // the pipes from and to pyplug
	Stdout  int // standard output
	Control int // the socket for fork requests, or 0 on systems without Fork
	Event   int // the event that [Process.Interrupt] and [Process.Urge] set, or 0 on systems with signals
}

// DescriptorsArg is a placeholder in the arguments of a process. [Start] replaces it with the
// numbers of the [Descriptors], in the order of the fields.
const DescriptorsArg = "{descriptors}"

// argv returns the command line of a process with these descriptors.
func (s Spec) argv(at Descriptors) []string {
	args := append([]string{s.Path}, s.Args...)
	if i := slices.Index(args, DescriptorsArg); i > 0 && s.Talk {
		args[i] = fmt.Sprint(at.In, at.Out, at.Stdout, at.Control, at.Event)
	}
	return args
}

// Conn is the pair of pipes to and from a process started with Talk. One goroutine may read while
// another writes. The caller of [Start] must close it, unless [Process.Stop] or [Process.Kill]
// does.
type Conn struct {
	in  *os.File
	out *outputPipe
}

// Read reads from the process. It returns [io.EOF] if the process is gone or has closed its end,
// and [os.ErrClosed] after Close.
func (c *Conn) Read(b []byte) (int, error) { return c.out.Read(b) }

// Write writes to the process and blocks while the pipe is full. It returns EPIPE if the process no
// longer reads, and [os.ErrClosed] after CloseWrite or Close.
func (c *Conn) Write(b []byte) (int, error) { return c.in.Write(b) }

// CloseWrite closes the pipe to the process. Data from the process can still be read.
func (c *Conn) CloseWrite() error { return c.in.Close() }

// Close ends both directions, including reads and writes that wait. The process continues. Closing
// twice is harmless.
func (c *Conn) Close() error {
	if c == nil {
		return nil
	}
	c.out.Close() // before in, so that a read returns ErrClosed, not the EOF of a process that exits when its input ends
	c.in.Close()
	return nil
}
