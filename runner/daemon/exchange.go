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
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// clientGrace is how much longer than the daemon a client waits at a time limit,
	// which the daemon enforces.
	clientGrace = 2 * time.Second
	// inputLimit is how long a call that is over waits for its input.
	inputLimit = 100 * time.Millisecond
	// missLimit is how many status requests in a row a daemon may leave unanswered
	// before a request to it fails.
	missLimit = 5
)

// A request that is unanswered for firstCheck, and then every nextCheck, makes the
// client check that the daemon answers a status request. Tests check sooner.
var (
	firstCheck = 100 * time.Millisecond
	nextCheck  = 5 * time.Second
	checkLimit = StatusLimit
)

// exchange is one request and its answer, on a connection of their own.
type exchange struct {
	client *Client
	hook   string // "" if the request is no call
	began  time.Time
	watch  bool // check meanwhile that the daemon is alive
	input  iter.Seq2[json.RawMessage, error]

	conn    net.Conn
	run     context.Context // ends the exchange; its cause is the error
	cancel  context.CancelCauseFunc
	stop    func() bool
	written chan error // receives the error of the input, or nil
}

// errTimeout ends an exchange whose time is over.
var errTimeout = errors.New("timed out")

// ask makes a request whose answer is one JSON value, which it reads into value unless
// that is nil.
func (x *exchange) ask(ctx context.Context, method, target string, query url.Values, value any) error {
	r, failed := x.send(ctx, method, target, query, http.Header{}, nil)
	if failed != nil {
		return failed
	}
	defer x.close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return x.failure(ctx, err)
	}
	if value == nil {
		return nil
	}
	if err := json.Unmarshal(body, value); err != nil {
		return x.failure(ctx, err)
	}
	return nil
}

// send makes a request and returns its answer, whose status is 200, or the error that
// the daemon answered. After success the caller calls close.
func (x *exchange) send(ctx context.Context, method, target string, query url.Values, header http.Header, body []byte) (*http.Response, *hook.Error) {
	if deadline, ok := ctx.Deadline(); ok && x.watch {
		if query == nil {
			query = url.Values{}
		}
		query.Set("timeout", max(time.Until(deadline), time.Millisecond).String())
	}
	header.Set(apiHeader, strconv.Itoa(API))
	u := &url.URL{Scheme: "http", Host: "pyplug", Opaque: target, RawQuery: query.Encode()}
	req := &http.Request{Method: method, URL: u, Host: "pyplug", Header: header, ContentLength: int64(len(body))}
	if body != nil {
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	conn, failed := x.client.connect(ctx, x.began)
	if failed != nil {
		failed.Hook = x.hook
		return nil, failed
	}
	x.start(ctx, conn)
	fed := func() {}
	if x.input != nil {
		var pipe *io.PipeReader
		pipe, fed = x.feed()
		req.Body, req.ContentLength = pipe, -1
	}
	go func() { // ends with the connection
		_ = req.Write(conn) // a failure shows in the answer
		fed()
	}()
	return x.receive(ctx, conn, method)
}

// start bounds the exchange on a connection by ctx and, if the daemon does not answer
// soon, by the daemon's life.
func (x *exchange) start(ctx context.Context, conn net.Conn) {
	x.conn, x.written = conn, make(chan error, 1)
	x.run, x.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(x.run, func() { _ = conn.Close() })
	x.stop = context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && x.watch {
			time.AfterFunc(clientGrace, func() { x.cancel(errTimeout) })
			return
		}
		x.cancel(context.Cause(ctx))
	})
	if x.watch {
		check := time.AfterFunc(firstCheck, x.checkAlive)
		context.AfterFunc(x.run, func() { check.Stop() })
	}
}

// feed writes the input to a pipe. done ends that.
func (x *exchange) feed() (from *io.PipeReader, done func()) {
	from, to := io.Pipe()
	go func() { // ends with done, once the input returns
		for value, err := range x.input {
			if err == nil {
				_, err = to.Write(append(bytes.TrimSpace(value), '\n'))
				if err == nil {
					continue
				}
				x.written <- nil // the call is over
				return
			}
			x.written <- err
			_ = to.CloseWithError(err)
			x.cancel(err)
			return
		}
		x.written <- nil
		_ = to.Close()
	}()
	return from, func() { _ = from.Close() }
}

// receive reads the answer to a request that was sent.
func (x *exchange) receive(ctx context.Context, from io.Reader, method string) (*http.Response, *hook.Error) {
	r, err := http.ReadResponse(bufio.NewReader(from), &http.Request{Method: method})
	if err != nil {
		defer x.close()
		return nil, x.failure(ctx, err)
	}
	if r.Header.Get(apiHeader) != strconv.Itoa(API) {
		x.close()
		return nil, versionError(x.client.place.name, x.client.id)
	}
	if r.StatusCode == http.StatusOK {
		return r, nil
	}
	defer x.close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, x.failure(ctx, err)
	}
	var answer errorBody
	if err := json.Unmarshal(body, &answer); err != nil || answer.Error == nil {
		return nil, x.failure(ctx, fmt.Errorf("status %s", r.Status))
	}
	return nil, x.inputFault(answer.Error)
}

// close ends the exchange. It waits a moment for the input.
func (x *exchange) close() {
	x.stop()
	x.cancel(nil)
	_ = x.conn.Close()
	if x.input != nil {
		select {
		case <-x.written:
		case <-time.After(inputLimit):
		}
	}
}

// failure is the error of an exchange that ended without an answer.
func (x *exchange) failure(ctx context.Context, err error) *hook.Error {
	name, cause := x.client.place.name, context.Cause(x.run)
	e := (*hook.Error)(nil)
	switch system := (*net.OpError)(nil); {
	case errors.Is(cause, errTimeout), Is(cause, Unresponsive) && errors.Is(ctx.Err(), context.DeadlineExceeded):
		e = hook.Ended(ctx, x.hook, "", x.began, true)
		hung := unresponsiveError(name, x.client.id)
		e.Err = fmt.Errorf("%w: %w", e.Err, hung.Err)
		e.Reason, e.Hints, e.Plugin = hung.Reason, hung.Hints, hung.Plugin
		return e
	case ctx.Err() != nil:
		return hook.Ended(ctx, x.hook, "", x.began, x.hook != "")
	case errors.As(cause, &e):
	case cause != nil: // the input failed
		e = hook.NewError(hook.Request, cause)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &system):
		e = lostError(name, x.client.id.Log, nil)
	default:
		e = lostError(name, x.client.id.Log, err)
	}
	own := *e
	own.Hook, own.Begun = x.hook, x.hook != ""
	if own.Plugin == "" {
		own.Plugin = x.client.id.About
	}
	return &own
}

// inputFault replaces a daemon's error by that of the input, if the input failed.
func (x *exchange) inputFault(e *hook.Error) *hook.Error {
	if x.input == nil {
		return e
	}
	select {
	case err := <-x.written:
		x.written <- nil
		if own := (*hook.Error)(nil); errors.As(err, &own) {
			return own
		}
		if err != nil {
			e.Err = err
		}
	default:
	}
	return e
}

// checkAlive ends the exchange if the daemon does not answer status requests.
func (x *exchange) checkAlive() {
	misses := 0
	for x.run.Err() == nil {
		limit, cancel := context.WithTimeout(x.run, checkLimit)
		_, err := x.client.status(limit, "")
		answered := limit.Err() == nil || err == nil
		cancel()
		if answered {
			misses = 0
			select {
			case <-time.After(nextCheck):
			case <-x.run.Done():
			}
			continue
		}
		misses++
		if x.run.Err() == nil && (misses == missLimit || suspended(x.client.id.PID)) {
			x.cancel(unresponsiveError(x.client.place.name, x.client.id))
		}
	}
}

// connect connects to the daemon. It waits for one whose queue of connections is full.
func (c *Client) connect(ctx context.Context, began time.Time) (net.Conn, *hook.Error) {
	limit, cancel := context.WithTimeout(ctx, takeLimit)
	defer cancel()
	for {
		conn, err := net.Dial("unix", c.place.socket)
		switch {
		case err == nil:
			return conn, nil
		case !busy(err):
			return nil, NotRunningError(c.place.name)
		}
		select {
		case <-time.After(pollEvery):
		case <-limit.Done():
			if ctx.Err() != nil {
				return nil, hook.Ended(ctx, "", "no connection", began, false)
			}
			return nil, unresponsiveError(c.place.name, c.id)
		}
	}
}

// result reads the result of a call.
func (x *exchange) result(ctx context.Context, r *http.Response, emit func(hook.Item) error) (hook.Result, error) {
	mediaType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if mediaType == streamType {
		return x.stream(ctx, r, emit)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return hook.Result{}, x.failure(ctx, err)
	}
	result := hook.Result{Item: hook.Item{Value: body, Binary: mediaType == bytesType}, Took: time.Since(x.began)}
	if result.Binary {
		result.Value = []byte(`"` + base64.StdEncoding.EncodeToString(body) + `"`)
	}
	result.Sole = readSole(r.Header.Get(soleHeader), result.Value)
	if notes := r.Header.Get(notesHeader); notes != "" {
		_ = json.Unmarshal([]byte(notes), &result.Notes) // none if it is not ours
	}
	return result, nil
}

// stream reads a streamed result. Without emit it collects the items into an array.
func (x *exchange) stream(ctx context.Context, r *http.Response, emit func(hook.Item) error) (hook.Result, error) {
	result := hook.Result{Streamed: true}
	collected := []json.RawMessage{}
	collect := emit == nil
	if collect {
		emit = func(item hook.Item) error {
			collected = append(collected, item.Value)
			return nil
		}
	}
	for lines := json.NewDecoder(r.Body); ; {
		var line streamLine
		if err := lines.Decode(&line); err != nil {
			return hook.Result{}, x.failure(ctx, err)
		}
		switch {
		case line.Error != nil:
			return hook.Result{}, x.inputFault(line.Error)
		case line.Done:
			result.Took, result.Notes = time.Since(x.began), line.Notes
			if collect {
				text, _ := jsonLine(collected) // items that were read
				result.Value = bytes.TrimSpace(text)
			}
			return result, nil
		}
		item := hook.Item{Value: line.Item, Binary: line.Binary, Sole: readSole(line.Sole, line.Item)}
		if err := emit(item); err != nil {
			return hook.Result{}, x.notEmitted(ctx, err)
		}
	}
}

// notEmitted is the error of a call whose items the caller does not take.
func (x *exchange) notEmitted(ctx context.Context, err error) *hook.Error {
	if ctx.Err() != nil {
		return hook.Ended(ctx, x.hook, "", x.began, true)
	}
	own := hook.Error{Kind: hook.Canceled, Err: err}
	if e := (*hook.Error)(nil); errors.As(err, &e) {
		own = *e
	}
	own.Hook, own.Begun = x.hook, true
	return &own
}
