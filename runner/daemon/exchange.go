package daemon

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
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
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	// clientGrace is how long a client waits beyond the limit of a call. The daemon enforces the
	// limit.
	clientGrace = 2 * time.Second
	// inputLimit is how long a call that has ended waits for its input to return.
	inputLimit = 100 * time.Millisecond
)

// checks says when a client sends status requests to check that the daemon does not hang: first is
// the delay after another request begins, and next the time between two checks. The daemon must
// answer within limit.
type checks struct{ first, next, limit time.Duration }

var defaultChecks = checks{100 * time.Millisecond, 5 * time.Second, 5 * time.Second} // tests check sooner

// exchange is one request and its answer, on its own connection.
type exchange struct {
	client *Client
	hook   string // "" if the request is not a call
	quick  bool   // the daemon answers at once, whatever the plugin does
	input  iter.Seq2[json.RawMessage, error]

	began  time.Time
	run    context.Context // ends the exchange; its cause is a [*hook.Error] if this side aborted it
	cancel context.CancelCauseFunc
	stop   func() bool
	fed    chan struct{} // closed when the input is not read any more, or nil without input
}

// send makes a request and returns its answer, whose status is 200, or the error that the daemon
// answered. After success the caller must call close.
func (x *exchange) send(ctx context.Context, method, target string, query url.Values, mediaType string, body []byte) (*http.Response, error) {
	x.began = time.Now()
	if sent := x.client.sent; sent != nil {
		x.client.sent = nil
		x.start(ctx, sent)
		return x.receive(x.client.answer, method)
	}
	if deadline, ok := ctx.Deadline(); ok && !x.quick {
		if query == nil {
			query = url.Values{}
		}
		query.Set("timeout", limitToSend(time.Until(deadline), hook.Limit(ctx)).String())
	}
	req := &http.Request{
		Method: method, Host: "pyplug", URL: &url.URL{Scheme: "http", Host: "pyplug", Opaque: target, RawQuery: query.Encode()},
		Header: http.Header{apiHeader: {strconv.Itoa(API)}, "Content-Type": {mediaType}},
	}
	if len(body) > 0 {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	conn, err := x.connect(ctx)
	if err != nil {
		return nil, err
	}
	x.start(ctx, conn)
	if x.input != nil {
		req.Body, req.ContentLength = x.feed(), -1
	}
	go func() { _ = req.Write(conn) }() // ends with the connection; if it fails, so does receive
	return x.receive(conn, method)
}

// limitToSend returns the time left of a limit. If less than 100 ms has passed, it returns the
// limit itself, so that errors name the limit that the user set.
func limitToSend(left, limit time.Duration) time.Duration {
	if limit > left && limit-left < 100*time.Millisecond {
		return limit
	}
	return max(left.Round(time.Millisecond), time.Millisecond)
}

// connect connects to the daemon. It waits while the daemon is starting or ending, or while its
// queue of connections is full.
func (x *exchange) connect(ctx context.Context) (net.Conn, error) {
	for c := x.client; ; {
		conn, err := net.Dial("unix", c.place.socket())
		var failed *hook.Error
		switch {
		case err == nil:
			return conn, nil
		case !busy(err) && !c.place.locked():
			failed = NotRunningError(c.place.name)
		case time.Since(x.began) > takeLimit:
			failed = unresponsiveError(c.place.name, c.id)
		case ctx.Err() != nil:
			failed = hook.Ended(ctx, "", "no connection", false)
		default:
			hook.Within(ctx.Done(), pollEvery)
			continue
		}
		failed.Hook = x.hook
		return nil, failed
	}
}

// start makes the exchange end when ctx ends or, unless it is quick, when the daemon hangs.
func (x *exchange) start(ctx context.Context, conn net.Conn) {
	x.run, x.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(x.run, func() { _ = conn.Close() })
	x.stop = context.AfterFunc(ctx, func() {
		if x.quick || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			x.cancel(hook.Ended(ctx, x.hook, "", false))
			return
		}
		select { // the daemon enforces the limit
		case <-time.After(clientGrace):
			x.cancel(x.hangs(ctx))
		case <-x.run.Done():
		}
	})
	if !x.quick {
		go x.checkAlive(ctx, defaultChecks)
	}
}

// checkAlive ends the exchange if the daemon does not answer a status request.
func (x *exchange) checkAlive(ctx context.Context, c checks) {
	for wait := c.first; ; wait = c.next {
		if hook.Within(x.run.Done(), wait) {
			return
		}
		_, err := x.client.status(x.run, c.limit, nil)
		if err != nil && hook.AsError(err).Kind == hook.Timeout || Is(err, Unresponsive) {
			x.cancel(x.hangs(ctx))
			return
		}
	}
}

// hangs returns the error of an exchange with a daemon that does not answer.
func (x *exchange) hangs(ctx context.Context) *hook.Error {
	e := unresponsiveError(x.client.place.name, x.client.id)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		late := hook.Ended(ctx, x.hook, "", true)
		e.Kind, e.Err = late.Kind, fmt.Errorf("%w: %w", late.Err, e.Err)
	}
	return e
}

// feed writes the input to a pipe, and returns the reading end.
func (x *exchange) feed() *io.PipeReader {
	from, to := io.Pipe()
	context.AfterFunc(x.run, func() { _ = from.Close() })
	x.fed = make(chan struct{})
	go func() { // ends with the exchange, after the input returns
		defer close(x.fed)
		for value, err := range x.input {
			if err != nil {
				x.abort(hook.Request, err)
				return
			}
			if _, err := fmt.Fprintf(to, "%s\n", bytes.TrimSpace(value)); err != nil {
				return
			}
		}
		_ = to.Close()
	}()
	return from
}

// abort ends the exchange with an error from the caller.
func (x *exchange) abort(kind hook.Kind, err error) {
	e, ok := errors.AsType[*hook.Error](err)
	if !ok {
		e = hook.NewError(kind, err)
	}
	x.cancel(e)
}

// receive reads the head of the answer.
func (x *exchange) receive(from io.Reader, method string) (*http.Response, error) {
	r, err := http.ReadResponse(bufio.NewReader(from), &http.Request{Method: method})
	switch {
	case err != nil:
	case r.Header.Get(apiHeader) != strconv.Itoa(API):
		err = versionError(x.client.place.name, x.client.id)
	case r.StatusCode == http.StatusOK:
		return r, nil
	default:
		var answer wire.Failure
		var body []byte
		if body, err = io.ReadAll(r.Body); err == nil {
			err = schema.Decode(body, &answer)
		}
		if err == nil && answer.Error != nil {
			err = answer.Error
		}
	}
	defer x.close()
	return nil, x.failure(err)
}

// close ends the exchange. It waits a moment for the input.
func (x *exchange) close() {
	x.stop()
	x.cancel(nil)
	if x.fed != nil {
		hook.Within(x.fed, inputLimit)
	}
}

// failure returns the error of an exchange that failed: the reason if this side ended it, otherwise
// the error that the daemon answered, otherwise an error that says that the daemon exited.
func (x *exchange) failure(err error) *hook.Error {
	e, ended := errors.AsType[*hook.Error](context.Cause(x.run))
	if !ended {
		if answered, ok := errors.AsType[*hook.Error](err); ok {
			return answered
		}
		e = lostError(x.client.place.name, x.client.id)
	}
	own := *e
	own.Hook, own.Begun = x.hook, x.hook != ""
	own.Plugin = cmp.Or(own.Plugin, x.client.id.About)
	return &own
}

// result reads the result of a call.
func (x *exchange) result(r *http.Response, emit func(hook.Item) error) (hook.Result, error) {
	mediaType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if mediaType == streamType {
		return x.stream(r, emit)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return hook.Result{}, x.failure(err)
	}
	result := hook.Result{Item: hook.Item{Value: body, Binary: mediaType == bytesType}, Took: time.Since(x.began)}
	result.Sole = r.Header.Get(soleHeader)
	if notes := r.Header.Get(notesHeader); notes != "" {
		_ = json.Unmarshal([]byte(notes), &result.Notes) // no notes if another program wrote the header
	}
	return result, nil
}

// stream reads a streamed result.
func (x *exchange) stream(r *http.Response, emit func(hook.Item) error) (hook.Result, error) {
	for lines := bufio.NewReader(r.Body); ; {
		line, err := wire.ReadLine(lines)
		switch {
		case err != nil:
			return hook.Result{}, x.failure(err)
		case line.Error != nil:
			return hook.Result{}, x.failure(line.Error)
		case line.Done:
			return hook.Result{Streamed: true, Took: time.Since(x.began), Notes: line.Notes}, nil
		case emit == nil:
			continue
		}
		if err := emit(line.Item); err != nil {
			x.abort(hook.Canceled, err)
			return hook.Result{}, x.failure(err)
		}
	}
}
