package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	jsonType  = "application/json"
	eventType = "text/event-stream"

	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"

	// commentEvery is the silence after which a stream gets a comment, so that proxies and clients
	// keep it open.
	commentEvery = 15 * time.Second
)

var _ http.Handler = (*Server)(nil)

// exchange is one POST and its response. Only the goroutine of the handler writes.
type exchange struct {
	w            http.ResponseWriter
	r            *http.Request
	control      *http.ResponseController
	json, stream bool        // the media types that the client accepts
	streams      bool        // the response is a stream
	unread       bool        // a write has failed
	events       chan []byte // notifications
	answers      chan []byte // its capacity is one answer, so that a slow client does not keep a slot
}

// ServeHTTP answers one message of a client that speaks Streamable HTTP. It keeps no state between
// two messages: it needs no initialize and has no sessions. The caller must have checked the Host,
// the Origin, the Content-Type and the client's permission, and must fail a write that the client
// does not read in time. If the request's context ends with another cause than [context.Canceled],
// the client is still there and gets an answer.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{
		w: w, r: r, control: http.NewResponseController(w), json: accepts(r.Header, jsonType), stream: accepts(r.Header, eventType),
		events: make(chan []byte), answers: make(chan []byte, 1),
	}
	switch {
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		x.refuse(http.StatusMethodNotAllowed, nil, fault(invalidRequest, "the method is %s, expected POST", schema.Short(r.Method)))
		return
	case !x.json && !x.stream:
		x.refuse(http.StatusNotAcceptable, nil, fault(invalidRequest, "Accept is %q, expected %s or %s", schema.Short(r.Header.Get("Accept")), jsonType, eventType))
		return
	}
	m, status, err := x.read()
	switch {
	case err != nil:
	case m.ID == nil || m.isAnswer():
		if session := label(r); session != nil {
			s.notified(session, m)
		}
		w.WriteHeader(http.StatusAccepted)
	default:
		status, err = x.begin(s, m)
	}
	if err != nil {
		x.refuse(status, m.ID, err)
	}
}

// label returns the session of a request, or nil. It distinguishes the requests that a notification
// may cancel from those of other clients, which may have the same ids.
func label(r *http.Request) any {
	if text := r.Header.Get(sessionHeader); text != "" {
		return text
	}
	return nil
}

// read reads the message, or returns the status of an error.
func (x *exchange) read() (m message, status int, err *protocolError) {
	text, readErr := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, largestLine))
	var long *http.MaxBytesError
	switch text = bytes.TrimPrefix(bytes.TrimSpace(text), []byte(hook.ByteOrderMark)); {
	case errors.As(readErr, &long):
		return m, http.StatusRequestEntityTooLarge, fault(invalidRequest, "the message is larger than %d bytes", long.Limit)
	case readErr != nil:
		return m, http.StatusBadRequest, fault(parseError, "reading the message: %v", readErr)
	case len(text) == 0:
		return m, http.StatusBadRequest, fault(parseError, "the body is empty, expected a JSON-RPC message")
	}
	if err := schema.CheckValue(text); err != nil {
		return m, http.StatusBadRequest, fault(parseError, "the body is %v", err)
	}
	if text[0] == '[' {
		return m, http.StatusBadRequest, fault(invalidRequest, noBatch)
	}
	if bytes.ContainsAny(text, "\r\n") { // an answer repeats parts of the message, and must be one line
		var line bytes.Buffer
		_ = json.Compact(&line, text) // the text is JSON
		text = line.Bytes()
	}
	m, err = parse(text)
	if err == nil || err.Code == noVersion { // a header that differs is the better explanation
		err = cmp.Or(m.checkHeaders(x.r.Header), err)
	}
	return m, http.StatusBadRequest, err
}

// checkHeaders returns an error if the headers of a message name an unknown version, or differ from
// the message. Proxies read the headers of a modern message instead of its body.
func (m message) checkHeaders(h http.Header) *protocolError {
	version := strings.Join(h.Values(versionHeader), ", ")
	isRequest := m.ID != nil && !m.isAnswer()
	switch {
	case isRequest && m.isModern:
		return m.checkModern(version, h)
	case version != "" && version != modern && !slices.Contains(legacy, version):
		return unsupported(version, append([]string{modern}, legacy...)...)
	case isRequest && version == modern && m.method != "initialize":
		return missingMeta(versionKey)
	}
	return nil
}

// checkModern checks the headers of a modern request.
func (m message) checkModern(version string, h http.Header) *protocolError {
	method, name := strings.Join(h.Values("Mcp-Method"), ", "), strings.Join(h.Values("Mcp-Name"), ", ")
	switch {
	case version != m.version:
		return mismatch(versionHeader, version, m.version)
	case version != modern:
		return unsupported(version, modern)
	case method != m.method:
		return mismatch("Mcp-Method", method, m.method)
	case m.method == "tools/call" && m.tool != nil && plain(name) != *m.tool:
		return mismatch("Mcp-Name", name, *m.tool)
	}
	return nil
}

func mismatch(name, header, body string) *protocolError {
	return fault(headerMismatch, "Header mismatch: %s is %q, but the message has %q", name, schema.Short(header), schema.Short(body))
}

// plain decodes the value of a header. The value is Base64 if it is not printable ASCII.
func plain(value string) string {
	if encoded, ok := strings.CutPrefix(value, "=?base64?"); ok {
		encoded, ok = strings.CutSuffix(encoded, "?=")
		if text, err := base64.StdEncoding.DecodeString(encoded); ok && err == nil {
			return string(text)
		}
	}
	return value
}

// begin answers a request, or returns the status of an error.
func (x *exchange) begin(s *Server, m message) (status int, err *protocolError) {
	if err := m.isKnown(); err != nil {
		switch {
		case err.Code != noMethod:
			return http.StatusBadRequest, err
		case m.isModern:
			return http.StatusNotFound, err
		}
		return http.StatusOK, err // a 404 would mean that a session has ended
	}
	if m.method == "subscriptions/listen" && !x.stream {
		return http.StatusNotAcceptable, fault(invalidRequest, "the answer is a stream, but Accept has no %s", eventType)
	}
	r := &request{message: m, s: s, isStateless: true, send: x.send, reply: func(answer []byte) { x.answers <- answer }}
	r.opened = func(string) { x.w.Header().Set(sessionHeader, rand.Text()) }
	if !m.isModern {
		r.session = label(x.r)
	}
	if err := s.begin(x.r.Context(), r); err != nil {
		return http.StatusServiceUnavailable, err
	}
	x.serve(r)
	return 0, nil
}

// serve writes the notifications and the answer of a request.
func (x *exchange) serve(r *request) {
	if r.waits() {
		go r.serve() // ends when the plugin answers, or soon after r.ctx
	} else {
		r.serve()
	}
	silence := time.NewTicker(commentEvery)
	defer silence.Stop()
	for {
		select {
		case text := <-x.events:
			x.write(event(text))
			silence.Reset(commentEvery)
		case <-silence.C:
			if x.stream {
				x.write([]byte(":\n\n"))
			}
		case answer := <-x.answers:
			x.answer(answer)
			return
		}
		if x.unread {
			r.cancel(errCanceled)
		}
	}
}

// isGone reports whether nobody reads the response.
func (x *exchange) isGone() bool {
	return x.unread || errors.Is(context.Cause(x.r.Context()), context.Canceled)
}

// send passes a notification to the goroutine that writes.
func (x *exchange) send(text []byte) {
	if x.stream {
		x.events <- text // serve receives until the request is answered
	}
}

// answer writes the answer, or ends the response without one.
func (x *exchange) answer(text []byte) {
	switch {
	case x.streams || text == nil && x.stream || !x.json:
		x.write(event(text))
	case text == nil:
		x.w.WriteHeader(http.StatusNoContent)
	default:
		x.writeJSON(http.StatusOK, text)
	}
}

// event returns an event of a stream, or nil if there is no text.
func event(text []byte) []byte {
	if text == nil {
		return nil
	}
	return slices.Concat([]byte("data: "), text, []byte("\n\n"))
}

// write writes a part of a stream. It opens the stream if necessary.
func (x *exchange) write(text []byte) {
	if !x.streams {
		h := x.w.Header()
		h.Set("Content-Type", eventType)
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no")
		x.streams = true
	}
	x.flush(text)
}

// flush writes text at once, unless the client is gone.
func (x *exchange) flush(text []byte) {
	if x.isGone() {
		return
	}
	_, err := x.w.Write(text)
	if err == nil {
		err = x.control.Flush()
	}
	x.unread = err != nil && !errors.Is(err, http.ErrNotSupported)
}

func (x *exchange) writeJSON(status int, text []byte) {
	if x.isGone() {
		return
	}
	h := x.w.Header()
	h.Set("Content-Type", jsonType)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	x.w.WriteHeader(status)
	x.flush(text)
}

// refuse answers with an error and a matching status.
func (x *exchange) refuse(status int, id []byte, err *protocolError) {
	x.writeJSON(status, failure(id, err))
}

// accepts reports whether a client accepts a media type. A client without Accept accepts all.
func accepts(h http.Header, mediaType string) bool {
	accepted := strings.Join(h.Values("Accept"), ",")
	if strings.TrimSpace(accepted) == "" {
		return true
	}
	family, _, _ := strings.Cut(mediaType, "/")
	ranges := []string{"*/*", family + "/*", mediaType} // the last range in the list decides
	found, allowed := -1, false
	for each := range strings.SplitSeq(accepted, ",") {
		name, params, err := mime.ParseMediaType(each)
		if i := slices.Index(ranges, name); err == nil && i >= found && i >= 0 {
			quality, err := strconv.ParseFloat(params["q"], 64)
			found, allowed = i, err != nil || quality > 0
		}
	}
	return allowed
}
