package proc

import "os"

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
