package daemon

import (
	"bufio"
	"bytes"
	"context"
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
	// seriesSize is the size of the calls that a client sends together, more or less.
	seriesSize = 1 << 20
	// seriesRoom is how many bytes of answers may wait to be written.
	seriesRoom = 1 << 20
	// seriesChunk is the maximum size of one Write.
	seriesChunk = 64 << 10
)

// serveCalls makes calls, one for each line, that one worker makes one after the other, and
// answers each on lines of its own. It makes none while the worker is busy, or another caller waits.
func (s *Server) serveCalls(w http.ResponseWriter, r *http.Request) (any, error) {
	defer s.use()()
	ctx := r.Context()
	calls, err := readCalls(ctx, w, r)
	if err != nil {
		return nil, err
	}
	limit, _ := s.check(r) // it was checked
	p, err := s.await(ctx, "")
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", streamType)
	out := output.New(newLineWriter(ctx, w), seriesChunk, nil)
	add := func(line wire.Line) {
		text, _ := hook.Marshal(line) // our own shape
		out.Append(func(dst []byte) []byte { return append(append(dst, text...), '\n') })
	}
	series := &hook.Series{Calls: calls, Limit: limit, FailFast: r.URL.Query().Get("fail-fast") != ""}
	series.Emit = func(_ context.Context, item hook.Item) error {
		out.Append(func(dst []byte) []byte { return wire.AppendItem(dst, item) })
		out.Room(seriesRoom, 0)
		return out.Err()
	}
	series.Answered = func(r hook.Result, err *hook.Error) {
		switch {
		case err != nil:
			add(wire.Line{Error: s.opts.Complete(err)})
		case r.Streamed:
			add(wire.Line{Done: true})
		default:
			out.Append(func(dst []byte) []byte { return wire.AppendResult(dst, r.Item) })
		}
	}
	series.HandedBack = func(n int) { add(wire.Line{HandedBack: n}) }
	if p, ok := p.(hook.SeriesCaller); ok {
		p.CallSeries(ctx, series)
	}
	out.Flush(0, 0) // the writer's deadline bounds it
	return nil, nil
}

// readCalls reads the whole body of calls, one on each line.
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

// TakesSeries reports whether the daemon makes calls together. It is known once [Client.Ready] has returned.
func (c *Client) TakesSeries() bool { return c.series }

// CallSeries makes calls that one worker of the daemon makes one after the other. See
// [hook.SeriesCaller]. If the connection is lost, the oldest call without an answer fails, which may
// have begun. Those behind it have not.
func (c *Client) CallSeries(ctx context.Context, s *hook.Series) {
	var body []byte
	sent := 0
	for ; sent < len(s.Calls) && len(body) < seriesSize; sent++ {
		body = wire.AppendCall(body, s.Calls[sent])
	}
	query := url.Values{}
	if s.Limit > 0 {
		query.Set("timeout", s.Limit.String())
	}
	if s.FailFast {
		query.Set("fail-fast", "1")
	}
	x := &exchange{client: c, hook: s.Calls[0].Hook}
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
			sent -= line.HandedBack
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
