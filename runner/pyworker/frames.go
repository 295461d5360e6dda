package pyworker

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The frames of the pipe between pyplug and the worker. worker/worker.py describes
// the protocol.
const (
	protocolVersion = 1
	headerSize      = 9
	// maxBody bounds a frame's body: larger than any value a script passes, smaller
	// than the length that garbage in a header claims.
	maxBody = 512 << 20
	// bodyStep is how much is allocated for a body before any of it has come.
	bodyStep = 1 << 20
	// window is how many bytes of a stream's items may be under way.
	window = 262144
)

// The types of frames to the worker.
const (
	frameLoad     = 'L'
	frameCall     = 'C'
	frameCancel   = 'K'
	frameCredit   = 'W'
	frameDescribe = 'D'
	frameProbe    = 'P'
	frameQuit     = 'Q'
)

// The types of frames from the worker.
const (
	frameHello   = 'H'
	frameReady   = 'Y'
	frameResult  = 'R'
	frameBytes   = 'B'
	frameItem    = 'I'
	frameEnd     = 'Z'
	frameError   = 'E'
	frameFiles   = 'F'
	frameOverlap = 'O'
	frameTrace   = 'T'
)

const fromWorker = "HYRBIZEFOT"

// frame is one frame. The zero value is none.
type frame struct {
	kind byte
	call uint32
	body []byte
}

// newFrame returns the bytes of a frame.
func newFrame(kind byte, call uint32, body ...byte) []byte {
	return seal(append(make([]byte, headerSize, headerSize+len(body)), body...), kind, call)
}

// seal writes the header of a frame whose body is in b already, behind room for it.
func seal(b []byte, kind byte, call uint32) []byte {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-headerSize))
	b[4] = kind
	binary.LittleEndian.PutUint32(b[5:], call)
	return b
}

// readFrame reads one frame from the worker. The error is [io.EOF] if the stream
// ended between two frames.
func readFrame(r *bufio.Reader) (frame, error) {
	head, err := r.Peek(headerSize)
	if err != nil {
		if len(head) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	length := binary.LittleEndian.Uint32(head)
	f := frame{kind: head[4], call: binary.LittleEndian.Uint32(head[5:])}
	switch {
	case strings.IndexByte(fromWorker, f.kind) < 0:
		return f, fmt.Errorf("unknown frame type in the frame header % x", head)
	case length > maxBody:
		return f, fmt.Errorf("impossible length in the frame header % x", head)
	}
	if _, err := r.Discard(headerSize); err != nil {
		return f, err
	}
	f.body, err = readBody(r, int(length))
	return f, err
}

// readBody reads a body, and allocates memory only as it comes: the length is no
// more than a claim.
func readBody(r io.Reader, length int) ([]byte, error) {
	body := make([]byte, min(length, bodyStep))
	for got := 0; got < length; {
		if got == len(body) {
			body = append(body, make([]byte, min(length-got, got))...)
		}
		n, err := io.ReadFull(r, body[got:])
		got += n
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
	return body, nil
}
