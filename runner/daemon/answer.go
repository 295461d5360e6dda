package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// maxBody is the longest body of a request.
	maxBody = 512 << 20
	// answerLimit is how long a client may take to read a result. The reader of a
	// stream may take as long as it likes.
	answerLimit = 30 * time.Second
)

// serveCall makes a call and answers it.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request) {
	defer s.use()()
	began, out := time.Now(), newLineWriter(s, w)
	defer out.close()
	ctx, cancel, err := limited(r, began, s.opts.CallTimeout)
	if err != nil {
		s.writeError(w, err)
		return
	}
	defer cancel()
	defer context.AfterFunc(ctx, out.hasten)()
	call := hook.Call{Hook: r.PathValue("hook"), Replay: r.URL.Query().Get("replay") != "", Emit: out.item}
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType == streamType {
		call.Input = out.input(ctx, cancel, r.Body)
	} else if call.Args, err = readArgs(w, r, mediaType); err != nil {
		e := hook.NewError(hook.Request, err)
		e.Hook = call.Hook
		s.writeError(w, e)
		return
	}
	p, failed := s.await(ctx, began, call.Hook)
	if failed != nil {
		s.writeError(w, failed)
		return
	}
	result, err := p.Call(ctx, call)
	switch {
	case err != nil:
		out.fail(err)
	case result.Streamed: // its items went to Emit
		_ = out.write(streamLine{Done: true, Notes: result.Notes})
	default:
		out.result(result)
	}
}

// readArgs reads the body of a unary call: all of it, since the end of the connection
// is noticed only then.
func readArgs(w http.ResponseWriter, r *http.Request, mediaType string) (hook.Args, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return hook.Args{}, fmt.Errorf("the arguments take more than %d bytes", maxBody)
	}
	if err != nil {
		return hook.Args{}, err
	}
	return decodeArgs(mediaType, body)
}

// streamLine is a line of a streamed result.
type streamLine struct {
	Item   json.RawMessage `json:"item,omitempty"`
	Binary bool            `json:"binary,omitempty"`
	Sole   string          `json:"sole,omitempty"`
	Done   bool            `json:"done,omitempty"`
	Notes  []string        `json:"notes,omitempty"`
	Error  *hook.Error     `json:"error,omitempty"`
}

// lineWriter writes an answer: lines, or a single value.
type lineWriter struct {
	s       *Server
	w       http.ResponseWriter
	control *http.ResponseController
	stop    func() bool
	began   bool // a line was written
}

func newLineWriter(s *Server, w http.ResponseWriter) *lineWriter {
	o := &lineWriter{s: s, w: w, control: http.NewResponseController(w)}
	o.stop = context.AfterFunc(s.writes, o.hasten)
	return o
}

func (o *lineWriter) close() { o.stop() }

// hasten bounds a write that goes on when the call is over or the server ends.
func (o *lineWriter) hasten() { _ = o.control.SetWriteDeadline(time.Now().Add(lastAnswers)) }

func (o *lineWriter) flush() {
	if !o.began {
		o.w.Header().Set("Content-Type", streamType)
		o.began = true
	}
	_ = o.control.Flush() // the next write returns the error
}

// write writes one line.
func (o *lineWriter) write(line any) error {
	text, err := jsonLine(line)
	if err != nil {
		return err
	}
	if !o.began {
		o.w.Header().Set("Content-Type", streamType)
		o.began = true
	}
	if _, err := o.w.Write(text); err != nil {
		return err
	}
	return o.control.Flush()
}

// item writes an item of a streamed result.
func (o *lineWriter) item(item hook.Item) error {
	return o.write(streamLine{Item: item.Value, Binary: item.Binary, Sole: soleField(item)})
}

// fail answers a call that failed.
func (o *lineWriter) fail(err error) {
	if o.began {
		_ = o.write(streamLine{Error: o.s.complete(err)})
		return
	}
	o.s.writeError(o.w, err)
}

// result answers with a value.
func (o *lineWriter) result(r hook.Result) {
	h, value := o.w.Header(), []byte(r.Value)
	h.Set("Content-Type", jsonType)
	if r.Binary {
		var err error
		if value, err = unquoteBase64(value); err != nil {
			o.fail(hook.NewError(hook.Internal, err))
			return
		}
		h.Set("Content-Type", bytesType)
	}
	if field := soleField(r.Item); field != "" {
		h.Set(soleHeader, field)
	}
	if len(r.Notes) > 0 {
		notes, _ := json.Marshal(r.Notes) // texts
		h.Set(notesHeader, ascii(notes))
	}
	h.Set("Content-Length", strconv.Itoa(len(value)))
	_ = o.control.SetWriteDeadline(time.Now().Add(answerLimit))
	_, _ = o.w.Write(value) // a client that is gone needs no answer
}

// input yields the values of a client stream until it or ctx ends.
func (o *lineWriter) input(ctx context.Context, cancel context.CancelFunc, body io.Reader) iter.Seq2[json.RawMessage, error] {
	_ = o.control.EnableFullDuplex()
	context.AfterFunc(ctx, func() { _ = o.control.SetReadDeadline(time.Unix(1, 0)) })
	return func(yield func(json.RawMessage, error) bool) {
		values := json.NewDecoder(bufio.NewReader(body))
		for {
			var value json.RawMessage
			err := values.Decode(&value)
			switch syntax := (*json.SyntaxError)(nil); {
			case errors.Is(err, io.EOF):
				return
			case err != nil && !errors.As(err, &syntax):
				cancel() // the client is gone
				fallthrough
			case err != nil:
				yield(nil, fmt.Errorf("the input: %w", err))
				return
			}
			if !yield(value, nil) {
				return
			}
		}
	}
}

// binarySole follows the field of soleField if its value is bytes.
const binarySole = ";base64"

// soleField names the field of a message that is its sole text or bytes, such as
// "text" or "data;base64". It is "" if there is none, or if the field is absent
// because it is empty: then --raw prints "=".
func soleField(item hook.Item) string {
	if item.Sole == nil {
		return ""
	}
	suffix := ""
	if item.Sole.Binary {
		suffix = binarySole
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(item.Value, &fields) // none if it is no object
	for name, value := range fields {
		if text, ok := soleText(value, item.Sole.Binary); ok && text == item.Sole.Text {
			return name + suffix
		}
	}
	return "=" + suffix
}

// readSole is the sole text or bytes of a message by the field that soleField named.
func readSole(field string, value json.RawMessage) *hook.Sole {
	if field == "" {
		return nil
	}
	name, binary := strings.CutSuffix(field, binarySole)
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(value, &fields) // none if it is no object
	text, _ := soleText(fields[name], binary)
	return &hook.Sole{Text: text, Binary: binary}
}

func soleText(value json.RawMessage, binary bool) (string, bool) {
	if binary {
		text, err := unquoteBase64(value)
		return string(text), err == nil
	}
	var text string
	err := json.Unmarshal(value, &text)
	return text, err == nil
}

// unquoteBase64 is the bytes of a JSON string in base64.
func unquoteBase64(value []byte) ([]byte, error) {
	text := bytes.Trim(bytes.TrimSpace(value), `"`)
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(decoded, text)
	return decoded[:n], err
}
