package daemon

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/lines/output"
)

const (
	// seriesSize is the approximate size of the calls that a client sends together.
	seriesSize = 1 << 20
	// seriesRoom is the number of bytes of answers that may wait to be written.
	seriesRoom = 1 << 20
	// wantedEvery is the interval at which a client checks whether the caller wants its calls back.
	wantedEvery = 50 * time.Millisecond
	// seriesChunk is the maximum size of one Write.
	seriesChunk = 64 << 10
)

// serveCalls makes calls, one for each line of the request. One worker makes them in order.
// serveCalls answers each call on its own lines. It makes no calls while the worker is busy or
// another caller waits.
func (s *Server) serveCalls(w http.ResponseWriter, r *http.Request) (any, error) {
	defer s.use()()
	ctx := r.Context()
	calls, err := readCalls(ctx, w, r)
	if err != nil {
		return nil, err
	}
	limit, _ := s.check(r) // the query was already checked
	p, err := s.await(ctx, "")
	if err != nil {
		return nil, err
	}
	query, wanted := r.URL.Query(), make(chan struct{})
	s.series.Store(query.Get("id"), wanted)
	defer s.series.CompareAndDelete(query.Get("id"), wanted)
	w.Header().Set("Content-Type", streamType)
	lines := newLineWriter(ctx, w)
	defer lines.close()
	out := output.New(lines, seriesChunk, nil)
	series := &hook.Series{Calls: calls, Limit: limit, FailFast: query.Get("fail-fast") != ""}
	answerSeries(ctx, series, out, s.opts.Complete)
	series.Wanted = func(bool) bool { // hand calls back if the client wants them or does not read
		return hook.IsClosed(wanted) || out.Pending() >= seriesRoom
	}
	if p, ok := p.(hook.SeriesCaller); ok {
		p.CallSeries(ctx, series)
	}
	out.Flush(0, 0) // the writer's deadline limits the wait
	return nil, nil
}

// answerSeries makes a series write its outcomes to out. ctx is the context of the request.
func answerSeries(ctx context.Context, s *hook.Series, out *output.Writer, complete func(error) *hook.Error) {
	add := func(line wire.Line) {
		text, _ := hook.Marshal(line) // this type can always be encoded
		out.Append(func(dst []byte) []byte { return append(append(dst, text...), '\n') })
	}
	s.Emit = func(call context.Context, item hook.Item) error {
		out.Append(func(dst []byte) []byte { return wire.AppendItem(dst, item) })
		if !out.Room(call, seriesRoom, 0) {
			return context.Cause(call)
		}
		return cmp.Or(out.Err(), ctx.Err())
	}
	s.Answered = func(r hook.Result, err *hook.Error) {
		switch {
		case err != nil:
			add(wire.Line{Error: complete(err)})
		case r.Streamed:
			add(wire.Line{Done: true})
		default:
			out.Append(func(dst []byte) []byte { return wire.AppendResult(dst, r.Item) })
		}
	}
	s.HandedBack = func(n int) { add(wire.Line{HandedBack: n}) }
}

// serveHandBack makes a running series hand back the calls that have not begun.
func (s *Server) serveHandBack(_ http.ResponseWriter, r *http.Request) (any, error) {
	wanted, found := s.series.LoadAndDelete(r.URL.Query().Get("id"))
	if found {
		close(wanted.(chan struct{}))
	}
	return foundBody{found}, nil
}

// foundBody reports whether the series with an id was found.
type foundBody struct {
	Found bool `json:"found"`
}

// readCalls reads the whole body of calls, one per line.
func readCalls(ctx context.Context, w http.ResponseWriter, r *http.Request) (calls []hook.Call, err error) {
	body, err := readWhole(ctx, w, r)
	if err != nil {
		return nil, err
	}
	for number, line := range bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n")) {
		c, err := wire.DecodeCall(line)
		if err != nil {
			return nil, hook.NewError(hook.Request, fmt.Errorf("line %d: %w", number+1, err))
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// TakesSeries reports whether the daemon makes series of calls. It is valid after [Client.Ready]
// has returned.
func (c *Client) TakesSeries() bool { return c.series }

// CallSeries makes calls in one worker of the daemon, in order. See [hook.SeriesCaller]. If the
// connection is lost, the oldest call without an answer fails, because it may have begun. Later
// calls count as not begun. If the daemon was killed, or ctx has ended, the last answers may be
// missing.
func (c *Client) CallSeries(ctx context.Context, s *hook.Series) {
	body, sent := seriesBody(s.Calls)
	if sent < 2 {
		return // a single call needs no series
	}
	query := url.Values{"id": {rand.Text()}}
	if s.Limit > 0 {
		query.Set("timeout", s.Limit.String())
	}
	if s.FailFast {
		query.Set("fail-fast", "1")
	}
	x := &exchange{client: c, hook: s.Calls[0].Hook}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.Wanted != nil {
		go c.watchWanted(ctx, s, query.Get("id"))
	}
	r, err := x.send(ctx, "POST", "/calls", query, streamType, body)
	if err != nil {
		if e := hook.AsError(err); e.Begun {
			s.Answer(hook.Result{}, e)
		}
		return
	}
	defer x.close()
	for from := bufio.NewReaderSize(r.Body, seriesChunk); sent > 0; {
		x.hook = s.Calls[0].Hook
		line, err := wire.ReadLine(from)
		switch {
		case errors.Is(err, io.EOF): // no other call has begun
			return
		case err != nil:
			s.Answer(hook.Result{}, x.failure(err))
			return
		case line.HandedBack > 0:
			sent -= min(sent, line.HandedBack)
			s.HandBack(len(s.Calls) - sent)
		case line.Error != nil:
			sent--
			s.Answer(hook.Result{}, line.Error)
		case line.Done:
			sent--
			s.Answer(hook.Result{Item: line.Item, Streamed: line.Value == nil, Took: time.Since(x.began)}, nil)
		case s.Emit != nil:
			if err := s.Emit(x.run, line.Item); err != nil {
				x.abort(hook.Canceled, err)
			}
		}
	}
}

// seriesBody returns the lines of the first n calls, which are sent together.
func seriesBody(calls []hook.Call) (body []byte, n int) {
	for ; n < len(calls) && len(body) < seriesSize; n++ {
		before := len(body)
		if body = wire.AppendCall(body, calls[n]); len(body)-before > hook.MaxSeriesArgs {
			return body[:before], n
		}
	}
	return body, n
}

// watchWanted asks the daemon to hand calls back when the caller wants them. It ends with ctx.
func (c *Client) watchWanted(ctx context.Context, s *hook.Series, id string) {
	for !hook.Within(ctx.Done(), wantedEvery) {
		var body foundBody
		if s.Wanted(false) && c.ask(ctx, "DELETE", "/calls", url.Values{"id": {id}}, &body) == nil && body.Found {
			return
		}
	}
}
