package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// quiet is how long a stream may stay silent after the process is gone
	// before it is given up: whoever still holds its other end has escaped.
	quiet = 200 * time.Millisecond
	// pipeMost is more than a pipe can hold. What comes beyond it after the
	// process is gone is not the process's.
	pipeMost = 2 << 20
	// chunk is the most that is read at once.
	chunk = 64 << 10
)

// lingering is our read end of a pipe from the process. It reads like the file
// until the process is gone; from then on silence is the end. What was written
// before is thus read, however slow its reader is.
type lingering struct {
	*os.File
	gone atomic.Bool
	late int // bytes read since then

	hand   sync.RWMutex // held from before something is read until it has been handed on
	mu     sync.Mutex
	handed chan struct{} // closed when that has been; nil while nobody waits for it

	using  sync.RWMutex // held shared while the descriptor is used beside the file
	closed bool
	once   sync.Once // finds number
	number int
}

// Close closes the file, when nobody uses its descriptor.
func (l *lingering) Close() error {
	l.using.Lock()
	l.closed = true
	l.using.Unlock()
	return l.File.Close()
}

// descriptor is the file's, which stays open until release; -1 when it is closed.
func (l *lingering) descriptor() int {
	l.using.RLock()
	if l.closed {
		return -1
	}
	l.once.Do(func() {
		raw, err := l.File.SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) { l.number = int(fd) })
		}
		if err != nil {
			l.number = -1
		}
	})
	return l.number
}

func (l *lingering) release() { l.using.RUnlock() }

// Read reads what is there, and reports [io.EOF] at the end of the stream or
// when nothing more is to be expected.
func (l *lingering) Read(b []byte) (int, error) {
	gone := l.gone.Load()
	if gone {
		if l.late > pipeMost {
			return 0, io.EOF
		}
		l.File.SetReadDeadline(time.Now().Add(quiet))
	}
	n, err := l.File.Read(b)
	if gone {
		l.late += n
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, io.EOF
	}
	return n, err
}

// linger tells that the process is gone. A read that waits is given the quiet
// time from now.
func (l *lingering) linger() {
	l.gone.Store(true)
	l.File.SetReadDeadline(time.Now().Add(quiet))
}

const (
	tailLines = 20
	tailBytes = 4 << 10
	maxStacks = 1000 // lines
)

// output takes in what both streams bring.
type output struct {
	onLine func(Line)
	raw    func(Stream, []byte)

	mu     sync.Mutex // held while onLine runs: never two lines at once
	tail   [tailLines][]byte
	lines  int // how many went through tail
	stacks []string
	dumped chan struct{} // non-nil while stacks are expected; told of each line
}

// drain reads one stream to its end.
func (o *output) drain(stream Stream, from *lingering) {
	var s splitter
	buf := make([]byte, chunk)
	emit := func(line []byte, cut int) { o.line(stream, line, cut) }
	for {
		n, err := from.take(buf)
		if n > 0 && o.raw != nil {
			o.mu.Lock()
			o.raw(stream, buf[:n])
			o.mu.Unlock()
		}
		if n > 0 && (o.raw == nil || stream == Stderr) {
			s.feed(buf[:n], emit)
		}
		if err != nil {
			s.end(emit)
			from.Close()
			from.passed()
			return
		}
		from.passed()
	}
}

// passed tells that what was taken has been handed on.
func (l *lingering) passed() {
	l.hand.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.handed != nil {
		close(l.handed)
		l.handed = nil
	}
}

// next is closed when something has been handed on.
func (l *lingering) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.handed == nil {
		l.handed = make(chan struct{})
	}
	return l.handed
}

// idle tells whether nothing that was read is being handed on.
func (l *lingering) idle() bool {
	if !l.hand.TryRLock() {
		return false
	}
	l.hand.RUnlock()
	return true
}

// Settle waits until what the process has written so far has been handed to
// OnLine, at most limit: what it printed can then be shown before what it
// answered. Windows does not tell what still waits in a pipe.
func (p *Process) Settle(limit time.Duration) {
	end := time.NewTimer(limit)
	defer end.Stop()
	for _, l := range p.drained {
		for {
			next := l.next()
			if l.settled() {
				break
			}
			select {
			case <-next:
			case <-end.C:
				return
			}
		}
	}
}

// Settled tells whether what the process has written so far has been handed to
// OnLine, as far as the system tells.
func (p *Process) Settled() bool {
	for _, l := range p.drained {
		if !l.settled() {
			return false
		}
	}
	return true
}

// settled tells whether nothing waits in the pipe or is being handed on.
//
// Emptiness is asked first: what was taken before is then in hand, or handed on.
func (l *lingering) settled() bool { return l.empty() && l.idle() }

func (o *output) line(stream Stream, line []byte, cut int) {
	if stream == Stdout && o.onLine == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if stream == Stderr {
		before, stack := o.stack(line)
		if stack && len(before) == 0 {
			return
		}
		line = before
		slot := &o.tail[o.lines%tailLines]
		*slot = append((*slot)[:0], line[:min(len(line), tailBytes)]...)
		o.lines++
	}
	if o.onLine != nil {
		o.onLine(Line{Stream: stream, Text: string(line), Cut: cut})
	}
}

// stack keeps a line of the stacks that were asked for, and tells whether it was
// one, and what the process had printed of it before.
func (o *output) stack(line []byte) (before []byte, stack bool) {
	if o.dumped == nil {
		return line, false
	}
	if at := stackHead(line); at < len(line) {
		before, line = line[:at], line[at:]
	}
	if !isStack(line, len(o.stacks) > 0) {
		return line, false
	}
	if len(o.stacks) < maxStacks {
		o.stacks = append(o.stacks, string(line))
	}
	select {
	case o.dumped <- struct{}{}:
	default:
	}
	return before, true
}

// expectStacks makes the lines of stacks be kept from here on; the channel
// tells that some have come.
func (o *output) expectStacks() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dumped == nil {
		o.dumped = make(chan struct{}, 1)
	}
	return o.dumped
}

// last is the tail as Exit tells it.
func (o *output) last() []string {
	var lines []string
	for i := max(0, o.lines-tailLines); i < o.lines; i++ {
		lines = append(lines, string(o.tail[i%tailLines]))
	}
	return lines
}
