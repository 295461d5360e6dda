//go:build linux || darwin

package health

import (
	"bytes"
	"io"
	"strconv"

	"golang.org/x/net/http2/hpack"
)

// What RFC 9113 calls the parts of a frame.
const (
	kindData         = 0x0
	kindHeaders      = 0x1
	kindSettings     = 0x4
	kindPing         = 0x6
	kindWindowUpdate = 0x8
	kindContinuation = 0x9

	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

const (
	preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	// userAgent is what the ordinary way says. A test holds it to gRPC's version.
	userAgent = "grpc-go/1.85.0"
	// ourStream is the one that a client begins with.
	ourStream = 1
	// maxFrame is the largest that a peer may send who was not told otherwise;
	// maxAnswer, of all together, is below what needs flow control.
	maxFrame  = 1 << 14
	maxAnswer = 1<<16 - 1
)

// call asks a gRPC method for the answer to one message. It is ok when
// everything about it is as expected, the status 0 among it.
func call(conn io.ReadWriter, authority, method, message string) (answer string, ok bool) {
	if _, err := conn.Write(request(authority, method, message)); err != nil {
		return "", false
	}
	in := io.LimitReader(conn, maxAnswer)
	r := newResponse()
	for !r.ended {
		f, ok := readFrame(in)
		if !ok || !r.take(f) {
			return "", false
		}
		if f.wantsAck() {
			if _, err := conn.Write(f.ack()); err != nil {
				return "", false
			}
		}
	}
	return r.message()
}

// request is all that a client sends at first, without waiting for the server's
// settings, as it may.
func request(authority, method, message string) []byte {
	var block bytes.Buffer // whose writes do not fail
	encoder := hpack.NewEncoder(&block)
	for _, field := range []hpack.HeaderField{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: "http"},
		{Name: ":path", Value: method},
		{Name: ":authority", Value: authority},
		{Name: "content-type", Value: "application/grpc"},
		{Name: "user-agent", Value: userAgent},
		{Name: "te", Value: "trailers"},
		{Name: "grpc-timeout", Value: strconv.FormatInt(limit.Milliseconds(), 10) + "m"},
	} {
		_ = encoder.WriteField(field)
	}
	b := frame{kind: kindSettings}.append([]byte(preface))
	b = frame{kind: kindHeaders, flags: flagEndHeaders, stream: ourStream, body: block.Bytes()}.append(b)
	return frame{kind: kindData, flags: flagEndStream, stream: ourStream, body: prefixed(message)}.append(b)
}

// prefixed puts gRPC's prefix before a message: not compressed, and its length.
func prefixed(message string) []byte {
	n := len(message)
	return append([]byte{0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, message...)
}

// frame is one of HTTP/2.
type frame struct {
	kind, flags byte
	stream      uint32
	body        []byte
}

// append puts a frame's bytes behind b.
func (f frame) append(b []byte) []byte {
	n := len(f.body)
	b = append(b, byte(n>>16), byte(n>>8), byte(n), f.kind, f.flags,
		byte(f.stream>>24), byte(f.stream>>16), byte(f.stream>>8), byte(f.stream))
	return append(b, f.body...)
}

func (f frame) has(flag byte) bool { return f.flags&flag != 0 }

// wantsAck tells whether the peer is to be told that the frame has come.
func (f frame) wantsAck() bool {
	return (f.kind == kindSettings || f.kind == kindPing) && !f.has(flagAck)
}

// ack is the answer to such a frame.
func (f frame) ack() []byte {
	answer := frame{kind: f.kind, flags: flagAck}
	if f.kind == kindPing {
		answer.body = f.body
	}
	return answer.append(nil)
}

// unpadded is the body without its padding.
func (f frame) unpadded() (body []byte, ok bool) {
	if !f.has(flagPadded) {
		return f.body, true
	}
	if len(f.body) == 0 || int(f.body[0]) >= len(f.body) {
		return nil, false
	}
	return f.body[1 : len(f.body)-int(f.body[0])], true
}

// readFrame reads a frame.
func readFrame(in io.Reader) (f frame, ok bool) {
	var head [9]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return f, false
	}
	n := number(head[:3])
	if n > maxFrame {
		return f, false
	}
	f = frame{kind: head[3], flags: head[4], stream: number(head[5:]) &^ (1 << 31), body: make([]byte, n)}
	_, err := io.ReadFull(in, f.body)
	return f, err == nil
}

// number reads bytes as one big-endian number.
func number(b []byte) (n uint32) {
	for _, digit := range b {
		n = n<<8 | uint32(digit)
	}
	return n
}
