//go:build linux || darwin

package health

import (
	"bytes"

	"golang.org/x/net/http2/hpack"

	"github.com/pyplug/pyplug/commands/warm"
)

const (
	// maxBlock bounds what a block of headers becomes. It is far more than any
	// plain answer has.
	maxBlock = 1 << 16
	// maxData bounds the data of an answer: a prefix and a short message.
	maxData = 1 << 10
)

// response is what has come of an answer. Frames are put into it in order, by
// take, until it has ended.
type response struct {
	greeted bool // the server's settings have come
	headed  bool // the headers before the data have come
	inBlock bool // CONTINUATION frames are to follow
	last    bool // the block ends the stream
	ended   bool

	decoder *hpack.Decoder // one for all blocks, since they share a table
	block   []byte
	data    []byte
}

func newResponse() *response {
	r := &response{decoder: hpack.NewDecoder(4096, nil)}
	r.decoder.SetMaxStringLength(maxBlock)
	return r
}

// message is that of an answer with exactly one, not compressed.
func (r *response) message() (string, bool) {
	if len(r.data) < 5 || string(prefixed(string(r.data[5:]))) != string(r.data) {
		return "", false
	}
	return string(r.data[5:]), true
}

// take tells whether a frame is expected.
func (r *response) take(f frame) bool {
	if !r.greeted && (f.kind != kindSettings || f.has(flagAck)) {
		return false
	}
	r.greeted = true
	if r.inBlock != (f.kind == kindContinuation) {
		return false
	}
	switch f.kind {
	case kindSettings:
		return f.stream == 0 && (!f.has(flagAck) || len(f.body) == 0) && areSettings(f.body)
	case kindPing:
		return f.stream == 0 && len(f.body) == 8
	case kindWindowUpdate:
		return f.stream <= ourStream && len(f.body) == 4 && number(f.body) != 0
	}
	if f.stream != ourStream {
		return false
	}
	switch f.kind {
	case kindData:
		return r.takeData(f)
	case kindHeaders:
		body, ok := f.unpadded()
		r.block, r.last = nil, f.has(flagEndStream)
		return ok && !f.has(flagPriority) && r.takeBlock(f, body)
	case kindContinuation:
		return r.takeBlock(f, f.body)
	}
	return false // RST_STREAM, GOAWAY, and whatever there may be
}

// areSettings tells whether a body has settings whose values are allowed. None
// of them matters to a request as short as ours.
func areSettings(body []byte) bool {
	const size, windowSize = 6, 4
	for ; len(body) >= size; body = body[size:] {
		if number(body[:2]) == windowSize && number(body[2:size]) > 1<<31-1 {
			return false
		}
	}
	return len(body) == 0
}

// takeData takes a part of the message. The stream is ended by headers.
func (r *response) takeData(f frame) bool {
	body, ok := f.unpadded()
	r.data = append(r.data, body...)
	return ok && r.headed && !f.has(flagEndStream) && len(r.data) <= maxData
}

// takeBlock takes a part of a block of headers: those before the data, or those
// behind it.
func (r *response) takeBlock(f frame, part []byte) bool {
	r.block = append(r.block, part...)
	r.inBlock = !f.has(flagEndHeaders)
	if r.inBlock {
		return true
	}
	h := headers{}
	if !h.decode(r.decoder, r.block) {
		return false
	}
	if !r.headed {
		r.headed = true
		return !r.last && h.begin()
	}
	r.ended = r.last
	return r.last && h.end()
}

// headers are those of a block that decide.
type headers struct {
	status, contentType, encoding, grpcStatus []string

	regular bool // one without a colon has come
	size    uint32
}

// begin tells whether the headers are those before the data.
func (h *headers) begin() bool {
	return len(h.status) == 1 && h.status[0] == "200" &&
		len(h.contentType) == 1 && isGRPC(h.contentType[0]) &&
		(len(h.encoding) == 0 || len(h.encoding) == 1 && h.encoding[0] == "identity") &&
		len(h.grpcStatus) == 0
}

// end tells whether they are those behind it, of a call that succeeded.
func (h *headers) end() bool {
	return len(h.status) == 0 && len(h.grpcStatus) == 1 && h.grpcStatus[0] == "0"
}

// isGRPC tells whether a content type is gRPC's, in any codec.
func isGRPC(contentType string) bool {
	rest, ok := warm.CutPrefix(contentType, "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

// decode reads a block, and tells whether HTTP/2 and gRPC allow what is in it.
func (h *headers) decode(d *hpack.Decoder, block []byte) bool {
	ok := true
	d.SetEmitFunc(func(field hpack.HeaderField) {
		h.size += field.Size()
		if ok = ok && h.size <= maxBlock && h.take(field.Name, field.Value); !ok {
			d.SetEmitEnabled(false)
		}
	})
	_, err := d.Write(block)
	return err == nil && d.Close() == nil && ok
}

// take tells whether a field is allowed. Binary metadata, which would have to be
// decoded to tell, counts as not.
func (h *headers) take(name, value string) bool {
	switch name {
	case ":status":
		h.status = append(h.status, value)
		return !h.regular
	case "content-type":
		h.contentType = append(h.contentType, value)
	case "grpc-encoding":
		h.encoding = append(h.encoding, value)
	case "grpc-status":
		h.grpcStatus = append(h.grpcStatus, value)
	}
	h.regular = true
	return isName(name) && isValue(value) && !hasSuffix(name, "-bin")
}

func isName(text string) bool {
	for i := range len(text) {
		if c := text[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || bytes.IndexByte([]byte("-_.!#$%&'*+^`|~"), c) >= 0) {
			return false
		}
	}
	return text != ""
}

func isValue(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
