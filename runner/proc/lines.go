package proc

import "bytes"

// maxLine is how much of a line is kept.
const maxLine = 16 << 10

// splitter splits a stream of bytes into lines in bounded memory. The zero value is
// ready to use, by one goroutine.
type splitter struct {
	kept []byte // of the line that has not ended
	cut  int    // dropped bytes of it
	last byte   // the last of these
}

// feed passes each line that ends in b to emit, which must not keep the bytes.
func (s *splitter) feed(b []byte, emit func(line []byte, cut int)) {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			s.keep(b)
			return
		}
		if len(s.kept) == 0 && i <= maxLine {
			emit(bytes.TrimSuffix(b[:i], []byte{'\r'}), 0)
		} else {
			s.keep(b[:i])
			s.flush(emit)
		}
		b = b[i+1:]
	}
}

// end emits a last line without newline.
func (s *splitter) end(emit func(line []byte, cut int)) {
	if len(s.kept) > 0 {
		s.flush(emit)
	}
}

func (s *splitter) keep(b []byte) {
	n := min(len(b), maxLine-len(s.kept))
	s.kept = append(s.kept, b[:n]...)
	if n < len(b) {
		s.cut += len(b) - n
		s.last = b[len(b)-1]
	}
}

func (s *splitter) flush(emit func(line []byte, cut int)) {
	line, cut := s.kept, s.cut
	// A carriage return before the newline is no part of the line, dropped or not.
	if cut == 0 {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	} else if s.last == '\r' {
		cut--
	}
	emit(line, cut)
	s.kept, s.cut = s.kept[:0], 0
}

// LineWriter emits each line written to it, as [Spec].OnLine gets it. It is for one
// goroutine.
type LineWriter struct {
	Emit  func(text string, cut int)
	lines splitter
}

// Write never fails.
func (w *LineWriter) Write(b []byte) (int, error) {
	w.lines.feed(b, func(line []byte, cut int) { w.Emit(string(line), cut) })
	return len(b), nil
}
