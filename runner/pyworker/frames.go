package pyworker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// The protocol of the pipe between pyplug and the worker, worker/worker.py.
//
// A frame is
//
//	length   4 bytes, little endian: the length of the body in bytes
//	type     1 byte, a letter
//	call     4 bytes, little endian: the number of the call, or 0 for the worker itself
//	body     JSON in UTF-8 unless stated otherwise; lone surrogates are escaped
//
// Frames to the worker:
//
//	L load     worker/boot.py; the first frame. A forked worker also waits for it, although the file is loaded
//	S source   the source of the worker's parts: name NUL text NUL name NUL text ...
//	C call     {"hook": name, "args": [...], "kwargs": {...}}, where args and kwargs may be absent; or with words
//	           {"hook": name, "words": [text or {"name", "text" or "json", "form", "value"}]}, see wire.AppendWords
//	A ahead    like C, but sent before the previous call is answered; does not begin behind a coroutine
//	U unless   like A, but does not begin if the previous call failed
//	B back     no body; the calls of type A or U up to this number do not begin, and SIGURG follows
//	           the frame. Number 0, without SIGURG, announces the first series, so that the worker
//	           handles SIGURG from then on
//	K cancel   no body; the canceled call is answered, too
//	W window   4 bytes, little endian: the number of further bytes of items that the worker may send
//	D describe {"hook": name or "", "input": bool}, see [schema.Query]
//	P probe    no body
//	Q quit     no body; the worker exits as a Python program exits
//
// Frames from the worker:
//
//	S source   no body; sent before hello to ask for the source of the worker's parts, if there is no byte code
//	H hello    {"python": version, "implementation": name, "pid": number}
//	Y ready    {"module": name, "files": [...]}: the file is loaded. With preload, it also has "zygote": true, or
//	           "exec" with the reason why the process cannot be forked
//	R result   the value; for describe {"hooks": [...]}, for probe {"degraded": reason} or {}
//	B bytes    the bytes of a value that is bytes
//	I item     one item of a stream
//	J bytes    the bytes of an item that is bytes
//	Z end      no body; the stream is over
//	E error    {"reason": word, "python": {"type", "message", "frames", "cause", "group"}, ...}
//	F files    [...]: the plugin's own files, sent before an answer if the call has imported more of them
//	N not begun  no body; this call and the calls behind it, all of type A or U, have not begun and will not
//	O task     no body; the call has become a task of the event loop, so the call behind it may begin
//	T trace    {"python": {"frames"}}: where a canceled call is that still runs; not an answer
//	X over     no body; the main thread ends, and no answer follows
//
// The worker answers a call once: with R, B or E, or with any number of I and J and then Z or E.
// At most 262144 bytes of items of a stream may be in flight, unless a single item is larger. W
// allows more. The reasons of E are:
//
//	raised       the hook raised an exception
//	load         the file could not be loaded; "files" lists the plugin's own files, "missing" names a module
//	result       the value cannot be represented; "message" says why, "place" where, such as "$.items[3]"
//	arguments    the arguments do not fit the hook; see the type answer for the other keys
//	hook         there is no such hook; "hooks" lists the hooks, "why" may say more, and "program" is set if the
//	             name belongs to a command line program
//	canceled     the call was canceled before it ended
//	old          the worker does not support this version of Python
const (
	headerSize = 9
	// maxBody is the maximum size of a frame's body. It is larger than any value that a script
	// passes, and smaller than a length from a garbage header.
	maxBody = 512 << 20
	// window is the maximum number of bytes of a stream's items in flight.
	window = 262144
)

// The types of frames to the worker.
const (
	frameLoad     = 'L'
	frameSource   = 'S' // used in both directions
	frameCall     = 'C'
	frameAhead    = 'A'
	frameUnless   = 'U'
	frameBack     = 'B'
	frameCancel   = 'K'
	frameCredit   = 'W'
	frameDescribe = 'D'
	frameProbe    = 'P'
	frameQuit     = 'Q'
)

// The types of frames from the worker.
const (
	frameHello     = 'H'
	frameReady     = 'Y'
	frameResult    = 'R'
	frameBytes     = 'B' // readFrame returns a binary frameResult
	frameItem      = 'I'
	frameItemBytes = 'J' // readFrame returns a binary frameItem
	frameEnd       = 'Z'
	frameError     = 'E'
	frameFiles     = 'F'
	frameUnbegun   = 'N'
	frameTask      = 'O'
	frameTrace     = 'T'
	frameOver      = 'X'
)

const fromWorker = "SHYRBIJZEFNOTX"

// frame is one frame. The zero value means no frame.
type frame struct {
	kind   byte
	call   uint32
	body   []byte
	binary bool // the body is bytes from the hook instead of JSON
}

// item returns the value of a result or an item.
func (f frame) item() hook.Item { return hook.Item{Value: f.body, Binary: f.binary} }

// newFrame returns the bytes of a frame.
func newFrame(kind byte, call uint32, body ...byte) []byte {
	return seal(append(make([]byte, headerSize, headerSize+len(body)), body...), kind, call)
}

// seal writes the header of a frame at the start of b. The body follows in b.
func seal(b []byte, kind byte, call uint32) []byte {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-headerSize))
	b[4] = kind
	binary.LittleEndian.PutUint32(b[5:], call)
	return b
}

// isResult reports whether the body is a result or an item: JSON on one line, or bytes.
func (f frame) isResult() bool {
	return f.kind == frameResult || f.kind == frameItem
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
	case f.kind == frameBytes:
		f.kind, f.binary = frameResult, true
	case f.kind == frameItemBytes:
		f.kind, f.binary = frameItem, true
	}
	if _, err := r.Discard(headerSize); err != nil {
		return f, err
	}
	f.body = make([]byte, length)
	if _, err = io.ReadFull(r, f.body); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if f.isResult() && !f.binary && (length == 0 || bytes.IndexByte(f.body, '\n') >= 0) {
		err = fmt.Errorf("the result of call %d is empty or holds a newline: the plugin wrote it, not the worker", f.call)
	}
	return f, err
}
