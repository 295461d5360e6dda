package wire

import (
	"errors"
	"io"
)

// MaxBody is the longest body that is read: larger than any value a script
// passes, smaller than what a header of garbage would ask for.
const MaxBody = 512 << 20

// step is how much is allocated for a body before any of it has come. A length
// is only a claim until then.
const step = 1 << 20

// Frame is one frame. The zero value is no frame.
type Frame struct {
	Type Type
	Call uint32
	Body []byte
}

// HeaderError says that what came is no frame's header: the other end is not
// speaking the protocol, and nothing after it can be trusted.
type HeaderError struct {
	// Header holds the bytes that came.
	Header [HeaderSize]byte
	// Problem says what is wrong with them.
	Problem string
}

// Error gives the bytes in hexadecimal.
func (e *HeaderError) Error() string {
	const digits = "0123456789abcdef"
	text := make([]byte, 0, 3*HeaderSize)
	for i, b := range e.Header {
		if i > 0 {
			text = append(text, ' ')
		}
		text = append(text, digits[b>>4], digits[b&15])
	}
	return e.Problem + " in the frame header " + string(text)
}

// Append appends a frame to dst and returns it. The body may come in parts.
// It panics when the body is longer than [MaxBody], which the caller checks.
func Append(dst []byte, t Type, call uint32, body ...[]byte) []byte {
	n := 0
	for _, part := range body {
		n += len(part)
	}
	if n > MaxBody {
		panic("wire: body too long")
	}
	dst = append(dst, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), byte(t),
		byte(call), byte(call>>8), byte(call>>16), byte(call>>24))
	for _, part := range body {
		dst = append(dst, part...)
	}
	return dst
}

// PutHeader writes the header of a frame whose body follows it in frame already.
// It panics as [Append] does.
func PutHeader(frame []byte, t Type, call uint32) {
	if len(frame)-HeaderSize > MaxBody {
		panic("wire: body too long")
	}
	Append(frame[:0], t, call)
	copy(frame, PutNumber(uint32(len(frame)-HeaderSize)))
}

// Number reads the 4 bytes of a [Credit] frame's body; ok is false when there
// are not 4.
func Number(body []byte) (n uint32, ok bool) {
	if len(body) != 4 {
		return 0, false
	}
	return little(body), true
}

// PutNumber is the body of a [Credit] frame.
func PutNumber(n uint32) []byte {
	return []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}
}

func little(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// Reader reads frames from a stream. It is used by one goroutine.
type Reader struct {
	src   io.Reader
	max   int
	sides [2]Side
	buf   []byte // the bytes read ahead are buf[start:end]
	start int
	end   int

	frame  Frame // the one whose header has come, with room for some of its body
	within bool  // there is one
	length int   // of its body
	got    int   // how much of that has come
}

// NewReader reads frames of the worker's pipe, in either direction, whose bodies
// are at most max bytes; 0 means [MaxBody].
func NewReader(src io.Reader, max int) *Reader {
	if max <= 0 {
		max = MaxBody
	}
	return &Reader{src: src, max: max, sides: [2]Side{ToWorker, FromWorker}, buf: make([]byte, 16<<10)}
}

// NewSideReader is [NewReader] for the frames of one side alone.
func NewSideReader(src io.Reader, max int, side Side) *Reader {
	r := NewReader(src, max)
	r.sides = [2]Side{side}
	return r
}

// Next reads one frame, whose body is the caller's to keep. The error is
// [io.EOF] when the stream ended between two frames, [io.ErrUnexpectedEOF] when
// it ended within one, a [*HeaderError] when what came is no frame, or the
// stream's own. After one that passes, such as a deadline's, Next can be called
// again and goes on where it was.
func (r *Reader) Next() (Frame, error) {
	if !r.within {
		if err := r.open(); err != nil {
			return Frame{}, err
		}
	}
	if err := r.fill(); err != nil {
		return Frame{}, err
	}
	f := r.frame
	r.frame, r.within = Frame{}, false
	return f, nil
}

// open takes a frame's header.
func (r *Reader) open() error {
	head, err := r.header()
	if err != nil {
		return err
	}
	length := uint64(little(head[:4]))
	f := Frame{Type: Type(head[4]), Call: little(head[5:])}
	if !r.sides[0].has(f.Type) && !r.sides[1].has(f.Type) {
		return &HeaderError{Header: head, Problem: "unknown frame type"}
	}
	if length > uint64(r.max) {
		return &HeaderError{Header: head, Problem: "impossible length"}
	}
	if length > 0 {
		f.Body = make([]byte, min(length, step))
	}
	r.frame, r.length, r.got, r.within = f, int(length), 0, true
	return nil
}

// header reads a frame's header.
func (r *Reader) header() (head [HeaderSize]byte, err error) {
	if r.end-r.start < HeaderSize {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
		for r.end < HeaderSize {
			n, err := r.read(r.buf[r.end:])
			if err != nil {
				if r.end == 0 && errors.Is(err, io.ErrUnexpectedEOF) {
					err = io.EOF
				}
				return head, err
			}
			r.end += n
		}
	}
	r.start += copy(head[:], r.buf[r.start:])
	return head, nil
}

// Buffered is how many bytes were read ahead and not taken yet.
func (r *Reader) Buffered() int { return r.end - r.start }

// fill reads a frame's body, taking memory only as it comes.
func (r *Reader) fill() error {
	for r.got < r.length {
		if r.got == len(r.frame.Body) {
			grown := make([]byte, min(r.length, 2*r.got))
			copy(grown, r.frame.Body)
			r.frame.Body = grown
		}
		k, err := r.full(r.frame.Body[r.got:])
		r.got += k
		if err != nil {
			return err
		}
	}
	return nil
}

// full fills p from what was read ahead and then from the stream.
func (r *Reader) full(p []byte) (int, error) {
	got := 0
	for got < len(p) {
		if r.start < r.end {
			k := copy(p[got:], r.buf[r.start:r.end])
			r.start += k
			got += k
			continue
		}
		if len(p)-got >= len(r.buf) { // too large to be worth a copy
			k, err := r.read(p[got:])
			got += k
			if err != nil {
				return got, err
			}
			continue
		}
		k, err := r.read(r.buf)
		r.start, r.end = 0, k
		if err != nil {
			return got, err
		}
	}
	return got, nil
}

// read reads at least one byte or fails.
func (r *Reader) read(p []byte) (int, error) {
	for range 100 {
		n, err := r.src.Read(p)
		if n > 0 {
			return n, nil // an error comes again with the next read
		}
		if errors.Is(err, io.EOF) {
			return 0, io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}
