package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/daemon/access"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
)

const (
	// maxBody is the largest size in bytes of the body of a unary call, and of a message of a
	// client stream.
	maxBody = 512 << 20
	// growSize is the initial size of the buffer for a body over TCP.
	growSize = 64 << 10
	// bodyLimit is how long a client may take to send a unary body.
	bodyLimit = time.Minute
	// answerLimit is how long a client may take to read the answer after its call has ended.
	// Stopping an unresponsive plugin takes part of this time.
	answerLimit = 10 * time.Second
)

// serveCall makes a call and writes the answer.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request) (any, error) {
	defer s.use()()
	call := hook.Call{Hook: r.PathValue("hook"), Replay: r.URL.Query().Get("replay") != ""}
	ctx := r.Context()
	out := newLineWriter(ctx, w)
	defer out.close()
	call.Emit = func(item hook.Item) error { return out.emit(wire.AppendItem(nil, item)) }
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var err error
	if mediaType == streamType {
		// The call may end before the client stream does. The connection ends with the call,
		// because the server could not find the start of the next request on it.
		w.Header().Set("Connection", "close")
		_ = out.control.EnableFullDuplex()
		endReads(ctx, w)
		most, tooLarge := s.largest(r)
		call.Input = hook.Messages(ctx, r.Body, "the input", most, tooLarge)
	} else if call.Args, err = readArgs(ctx, w, r, mediaType); err != nil {
		return nil, err
	}
	p, err := s.await(ctx, call.Hook)
	var result hook.Result
	if err == nil {
		result, err = p.Call(ctx, call)
	}
	if isTCP(r) {
		result.Notes = nil // notes are only for the plugin's owner
	}
	out.items.Wait()
	switch {
	case err != nil && out.began:
		_ = out.write(wire.Line{Error: s.complete(r, err)})
	case err != nil:
		return nil, err
	case result.Streamed: // its items were sent by Emit
		_ = out.write(wire.Line{Done: true, Notes: result.Notes})
	default:
		writeResult(w, result)
	}
	return nil, nil
}

// readArgs reads the arguments of a unary call.
func readArgs(ctx context.Context, w http.ResponseWriter, r *http.Request, mediaType string) (args hook.Args, err error) {
	body, err := readWhole(ctx, w, r)
	if err == nil {
		if args, err = wire.DecodeArgs(body, mediaType == wordsType); err != nil {
			err = &hook.Error{Kind: hook.Request, Hook: r.PathValue("hook"), Err: err}
		}
	}
	return args, err
}

// readWhole reads the whole body of a call, because net/http detects a closed connection only after
// the body was read.
func readWhole(ctx context.Context, w http.ResponseWriter, r *http.Request) ([]byte, error) {
	name, call := r.PathValue("hook"), ctx
	ctx, cancel := hook.WithLimit(ctx, bodyLimit)
	defer cancel()
	stop := endReads(ctx, w)
	body, err := readBody(r)
	stop()
	refusal, isRefused := errors.AsType[*access.Refusal](err)
	if isRefused && refusal.Status == http.StatusRequestTimeout && errors.Is(call.Err(), context.DeadlineExceeded) {
		isRefused = false // the call's own deadline ended the read; any other timeout of the read cancels the context call
	}
	if err != nil && ctx.Err() != nil && !isRefused {
		e := hook.Ended(ctx, name, "the request did not end", false)
		e.Hints = nil // no flag sets this limit
		return nil, e
	}
	if err != nil {
		e := hook.NewError(hook.Request, err)
		if inner, ok := errors.AsType[*hook.Error](err); ok {
			e.Kind = inner.Kind
		}
		e.Hook = name
		return nil, e
	}
	return body, nil
}

// readBody reads a body of at most maxBody bytes.
func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, errTooLarge
	}
	var body bytes.Buffer
	size := max(r.ContentLength, 0)
	if isTCP(r) {
		size = min(size, growSize) // the rest may never arrive
	}
	body.Grow(int(size) + bytes.MinRead) // large enough that no copy is needed
	_, err := body.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	if body.Len() > maxBody {
		err = errTooLarge
	}
	return body.Bytes(), err
}

var errTooLarge = fmt.Errorf("the body is larger than %d MB", maxBody>>20)

// endReads makes reads of a request's body fail after ctx ends, unless stop is called before.
func endReads(ctx context.Context, w http.ResponseWriter) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) })
}

// writeResult writes a result as the answer.
func writeResult(w http.ResponseWriter, r hook.Result) {
	h := w.Header()
	h.Set("Content-Type", jsonType)
	if r.Binary {
		h.Set("Content-Type", bytesType)
	}
	if r.Sole != "" {
		h.Set(soleHeader, r.Sole)
	}
	if len(r.Notes) > 0 {
		h.Set(notesHeader, ascii(r.Notes))
	}
	h.Set("Content-Length", strconv.Itoa(len(r.Value)))
	_, _ = w.Write(r.Value) // ignore the error: the client is gone
}

// lineWriter writes an answer that consists of lines.
type lineWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	ctx     context.Context
	stop    func() bool // stops watching ctx

	began bool           // an item was emitted
	items sync.WaitGroup // counts the item being written, at most one
}

// newLineWriter returns a writer for the answer to a request. Until ctx ends, a client may take any
// time to read a line.
func newLineWriter(ctx context.Context, w http.ResponseWriter) *lineWriter {
	o := &lineWriter{w: w, control: http.NewResponseController(w), ctx: ctx}
	o.stop = context.AfterFunc(ctx, func() { _ = o.control.SetWriteDeadline(time.Now().Add(answerLimit)) })
	return o
}

// close releases the writer.
func (o *lineWriter) close() {
	o.items.Wait()
	o.stop()
}

// emit writes an item. It returns when the item is written or ctx ends, because a client that does
// not read must not keep the plugin busy.
func (o *lineWriter) emit(line []byte) error {
	if o.began = true; o.ctx.Err() != nil {
		return o.ctx.Err()
	}
	written := make(chan error, 1)
	o.items.Go(func() { written <- o.writeText(line) })
	select {
	case err := <-written:
		return err
	case <-o.ctx.Done(): // the next item is rejected
		return nil
	}
}

// write writes one line.
func (o *lineWriter) write(line any) error {
	text, err := hook.Marshal(line)
	if err != nil {
		return err
	}
	return o.writeText(append(text, '\n'))
}

func (o *lineWriter) writeText(line []byte) error {
	o.w.Header().Set("Content-Type", streamType)
	_, err := o.Write(line)
	return err
}

// Write writes text and flushes it.
func (o *lineWriter) Write(text []byte) (int, error) {
	n, err := o.w.Write(text)
	if err == nil {
		err = o.control.Flush()
	}
	return n, err
}
