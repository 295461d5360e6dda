package proc

import (
	"bytes"
	"sync"
)

const (
	chunk     = 64 << 10 // bytes of one read
	tailLines = 20
	tailBytes = 4 << 10
	maxStacks = 1000 // lines
)

// output receives both streams of a process.
type output struct {
	onLine func(Line)
	raw    func(Stream, []byte)
	// both also keeps standard output in the tail. It is set for a process with Talk, which prints
	// only for people.
	both bool

	mu     sync.Mutex // held while onLine runs, so that calls do not overlap
	tail   [tailLines][]byte
	lines  int // the number of lines that tail has received
	stacks []string
	dumped chan struct{} // receives a token for a line of stacks, or nil if no stacks are expected
}

// drain reads one stream to its end.
func (o *output) drain(stream Stream, from *outputPipe) {
	var s splitter
	buf := make([]byte, chunk)
	emit := func(line []byte, cut int) { o.line(stream, line, cut) }
	for {
		n, err := from.Read(buf)
		if o.raw != nil {
			o.mu.Lock()
			o.raw(stream, buf[:n])
			o.mu.Unlock()
		}
		s.feed(buf[:n], emit)
		if err != nil {
			s.end(emit)
		}
		from.deliver()
		if err != nil {
			from.Close()
			return
		}
	}
}

func (o *output) line(stream Stream, line []byte, cut int) {
	if stream == Stdout && o.onLine == nil && !o.both {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if stream == Stderr && o.stack(line) {
		return
	}
	if stream == Stderr || o.both {
		slot := &o.tail[o.lines%tailLines]
		*slot = append((*slot)[:0], line[:min(len(line), tailBytes)]...)
		o.lines++
	}
	if o.onLine != nil {
		o.onLine(Line{Stream: stream, Text: string(line), Cut: cut})
	}
}

// stack keeps a line of expected stacks, and reports whether the line belongs to them.
func (o *output) stack(line []byte) bool {
	if o.dumped == nil || !isStack(line, len(o.stacks) > 0) {
		return false
	}
	if len(o.stacks) < maxStacks {
		o.stacks = append(o.stacks, string(line))
	}
	select {
	case o.dumped <- struct{}{}:
	default:
	}
	return true
}

// expectStacks keeps lines of stacks from now on. The channel reports their arrival.
func (o *output) expectStacks() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dumped == nil {
		o.dumped = make(chan struct{}, 1)
	}
	return o.dumped
}

// takeStacks returns the lines of stacks, and expects no more.
func (o *output) takeStacks() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := o.stacks
	o.stacks, o.dumped = nil, nil
	return lines
}

// last returns the last lines of standard error, or of both streams.
func (o *output) last() []string {
	var lines []string
	for i := max(0, o.lines-tailLines); i < o.lines; i++ {
		lines = append(lines, string(o.tail[i%tailLines]))
	}
	return lines
}

// maxLine is the number of bytes that are kept of a line.
const maxLine = 16 << 10

// splitter splits a stream of bytes into lines in bounded memory. The zero value is ready to use.
// Only one goroutine may use it.
type splitter struct {
	kept []byte // the line that has not ended
	cut  int    // number of dropped bytes of that line
}

// feed passes each line that ends in b to emit. emit must not keep the bytes.
func (s *splitter) feed(b []byte, emit func(line []byte, cut int)) {
	for {
		line, rest, ended := bytes.Cut(b, []byte{'\n'})
		n := min(len(line), maxLine-len(s.kept))
		s.kept = append(s.kept, line[:n]...)
		s.cut += len(line) - n
		if !ended {
			return
		}
		s.flush(emit)
		b = rest
	}
}

// end emits a last line without newline.
func (s *splitter) end(emit func(line []byte, cut int)) {
	if len(s.kept) > 0 {
		s.flush(emit)
	}
}

func (s *splitter) flush(emit func(line []byte, cut int)) {
	emit(bytes.TrimSuffix(s.kept, []byte{'\r'}), s.cut)
	s.kept, s.cut = s.kept[:0], 0
}

// LineWriter emits each line written to it in the form of [Spec].OnLine. Only one goroutine may use
// it.
type LineWriter struct {
	Emit  func(text string, cut int)
	lines splitter
}

// Write never fails.
func (w *LineWriter) Write(b []byte) (int, error) {
	w.lines.feed(b, func(line []byte, cut int) { w.Emit(string(line), cut) })
	return len(b), nil
}
