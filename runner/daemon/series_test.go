package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// serial is a fake that accepts series. The hook "back" hands back the later calls, and then waits
// for the test. The hook "wanted" waits until the later calls are wanted back.
type serial struct {
	*fake
	seen chan hook.Series // the calls that arrived with each series
	back chan struct{}
}

func (f *serial) CallSeries(ctx context.Context, s *hook.Series) {
	f.seen <- *s
	for len(s.Calls) > 0 && s.Calls[0].Hook != "unbegun" {
		c := s.Calls[0]
		switch c.Hook {
		case "back":
			s.HandBack(len(s.Calls) - 1)
			<-f.back
		case "wanted":
			for !s.Wanted(false) {
				runtime.Gosched()
			}
			s.HandBack(len(s.Calls) - 1)
		}
		c.Emit = func(item hook.Item) error { return s.Emit(ctx, item) }
		if r, err := f.Call(ctx, c); err != nil {
			s.Answer(hook.Result{}, hook.AsError(err))
		} else {
			s.Answer(r, nil)
		}
	}
}

// outcomes makes a series of calls, and returns their outcomes in order.
func outcomes(t *testing.T, c *Client, s *hook.Series) (got []string) {
	t.Helper()
	s.Emit = func(_ context.Context, item hook.Item) error {
		got = append(got, "item "+string(item.Value))
		return nil
	}
	s.Answered = func(r hook.Result, err *hook.Error) {
		switch {
		case err != nil:
			got = append(got, fmt.Sprint(err.Kind, " ", err.Begun))
		case r.Streamed:
			got = append(got, "end")
		default:
			got = append(got, fmt.Sprint(string(r.Value), r.Binary))
		}
	}
	c.CallSeries(t.Context(), s)
	return got
}

// TestSeries checks that calls of all kinds and their answers are sent together, and that
// unanswered calls are left to the caller.
func TestSeries(t *testing.T) {
	nothingLeft(t)
	f := &serial{fake: newFake(), seen: make(chan hook.Series, 1), back: make(chan struct{})}
	results := map[string]hook.Result{
		"nan":   {Item: hook.Item{Value: json.RawMessage(`[NaN, "\",\"binary\":true}"]`)}},
		"like":  {Item: hook.Item{Value: json.RawMessage(`{"a":1,"binary":true}`)}},
		"bytes": {Item: hook.Item{Value: []byte("\x00\xff\n"), Binary: true}},
	}
	for name, r := range results {
		f.hooks[name] = func(context.Context, hook.Call) (hook.Result, error) { return r, nil }
	}
	f.hooks["stream"] = func(_ context.Context, c hook.Call) (hook.Result, error) {
		err := c.Emit(hook.Item{Value: []byte("1")})
		return hook.Result{Streamed: true}, err
	}
	f.hooks["back"] = func(context.Context, hook.Call) (hook.Result, error) { return value(1), nil }
	d := startPlugin(t, f.fake, f, Options{Series: true, CallTimeout: time.Hour})
	c := open(t)
	if _, _, err := c.Ready(t.Context()); err != nil || !c.TakesSeries() {
		t.Fatalf("takes series: %v, %v", c.TakesSeries(), err)
	}
	calls := func(names ...string) (all []hook.Call) {
		for _, name := range names {
			all = append(all, hook.Call{Hook: name, Args: hook.Args{JSON: json.RawMessage("[7]"), Valid: true}})
		}
		return all
	}
	words := hook.Call{Hook: "echo", Args: hook.Args{JSON: json.RawMessage(`{"b": 1}`), Words: []schema.Word{{Name: "a", Form: schema.Text, Value: "x\xff", Typed: "a=x\xff"}}}}
	s := &hook.Series{Calls: append(calls("echo", "nan", "like", "bytes", "stream", "nosuch"), words, hook.Call{Hook: "unbegun"}, words)}
	got := outcomes(t, c, s)
	seen := <-f.seen
	want := []string{"[7]false", string(results["nan"].Value) + "false", `{"a":1,"binary":true}false`, "\x00\xff\ntrue", "item 1", "end", "request false"}
	if !slices.Equal(got[:len(want)], want) || len(got) != len(want)+1 || len(s.Calls) != 2 {
		t.Errorf("got %q, want %q; %d calls are left", got, want, len(s.Calls))
	}
	if w := seen.Calls[6].Args; len(w.Words) != 1 || w.Words[0].Name != "a" || w.Words[0].Value != "x\xff" || string(w.JSON) != `{"b":1}` {
		t.Errorf("the words are %+v", w)
	}
	if seen.Limit != time.Hour || seen.FailFast {
		t.Errorf("the limit is %v, fail fast %v", seen.Limit, seen.FailFast)
	}
	back := 0
	s = &hook.Series{Calls: calls("echo", "back", "echo", "echo"), Limit: time.Minute, FailFast: true, HandedBack: func(n int) {
		back += n
		close(f.back)
	}}
	got = outcomes(t, c, s)
	if seen = <-f.seen; !slices.Equal(got, []string{"[7]false", "1false"}) || back != 2 || len(s.Calls) != 0 || seen.Limit != time.Minute || !seen.FailFast {
		t.Errorf("got %q, %d handed back, %d left, limit %v, fail fast %v", got, back, len(s.Calls), seen.Limit, seen.FailFast)
	}
	conn, from := send(t, d, "POST /calls HTTP/1.1\r\nHost: p\r\nContent-Length: 32\r\n\r\n{\"hook\": \"echo\"}\n{\"hok\": \"echo\"}")
	defer conn.Close()
	if r, body := receive(t, from); r.StatusCode != 400 || !strings.Contains(body, `line 2: the line is {\"hok\": \"echo\"}, expected {\"hook\": NAME}`) {
		t.Errorf("a line without a hook: %d %s", r.StatusCode, body)
	}
}

// TestSeriesWanted checks that calls are handed back if the client wants them back, or does not
// read.
func TestSeriesWanted(t *testing.T) {
	nothingLeft(t)
	f := &serial{fake: newFake(), seen: make(chan hook.Series, 1)}
	f.hooks["wanted"] = func(context.Context, hook.Call) (hook.Result, error) { return value(1), nil }
	f.hooks["large"] = func(context.Context, hook.Call) (hook.Result, error) {
		return hook.Result{Item: hook.Item{Value: []byte(`"` + strings.Repeat("x", 2*seriesRoom) + `"`)}}, nil
	}
	d := startPlugin(t, f.fake, f, Options{Series: true})
	back := 0
	s := &hook.Series{
		Calls:      []hook.Call{{Hook: "wanted"}, {Hook: "echo"}, {Hook: "echo"}},
		Wanted:     func(bool) bool { return true },
		HandedBack: func(n int) { back += n },
	}
	if got := outcomes(t, open(t), s); !slices.Equal(got, []string{"1false"}) || back != 2 {
		t.Errorf("got %q, %d handed back", got, back)
	}
	const body = `{"hook": "large"}` + "\n" + `{"hook": "wanted"}` + "\n" + `{"hook": "echo"}`
	conn, from := send(t, d, fmt.Sprintf("POST /calls HTTP/1.1\r\nHost: p\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	defer conn.Close()
	<-f.seen
	<-f.seen
	if r, body := receive(t, from); r.StatusCode != 200 || !strings.HasSuffix(body, `"}`+"\n"+`{"handed_back":1}`+"\n"+`{"result":1}`+"\n") {
		t.Errorf("a client that does not read: %d %.20s...%s", r.StatusCode, body, body[max(0, len(body)-50):])
	}
}

// TestSeriesLost checks that after a lost connection only the oldest call without an answer fails.
func TestSeriesLost(t *testing.T) {
	next := dying(t)
	const head = "HTTP/1.1 200 OK\r\nPyplug-Api: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
	for answer, want := range map[string][]string{
		"":                                 {"unavailable true"},
		head:                               {"unavailable true"},
		head + "d\r\n{\"result\":1}\n\r\n": {"1false", "unavailable true"},
		head + "d\r\n{\"result\":1}\n\r\n0\r\n\r\n": {"1false"},
	} {
		next <- answer
		s := &hook.Series{Calls: slices.Repeat([]hook.Call{{Hook: "echo"}}, 3)}
		if got := outcomes(t, open(t), s); !reflect.DeepEqual(got, want) || len(s.Calls) != 3-len(want) {
			t.Errorf("%q: got %q, want %q; %d calls are left", answer, got, want, len(s.Calls))
		}
	}
}
