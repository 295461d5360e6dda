package pyworker_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// ordered is a plugin whose calls report when two of them overlap.
const ordered = `
import asyncio, os, time
n, runs = 0, 0
def count():
    global n
    n += 1
    return n if not runs else "overlap"
async def later():
    global runs, n
    if runs: return "overlap"
    runs += 1
    await asyncio.sleep(0)
    runs -= 1
    n += 1
    return n
def items():
    for _ in range(2000): yield "item"
    count()
async def flow():
    for _ in range(20):
        await asyncio.sleep(0)
        yield "item"
def hang(): time.sleep(60)
async def wait(): await asyncio.sleep(60)
def loop(): return sum(range(10**12))
def leave(): os._exit(7)
def exit(): raise SystemExit(3)
def fail(): raise ValueError
`

// series makes calls in order, in as many series as needed. It returns their values or the kinds
// of their errors, and the number of calls that each series made. first is the number of calls with
// which each series begins. A series gets further calls while it runs.
func series(ctx context.Context, inst hook.Instance, limit time.Duration, first int, names ...string) (got []string, sizes []int) {
	calls := make([]hook.Call, len(names))
	for i, name := range names {
		calls[i] = hook.Call{Hook: name}
	}
	s := &hook.Series{Limit: limit, Emit: func(context.Context, hook.Item) error { return nil }}
	s.More = func(n int) []hook.Call {
		more := calls[:min(n, len(calls))]
		calls = calls[len(more):]
		return more
	}
	s.Answered = func(r hook.Result, err *hook.Error) {
		switch {
		case err != nil:
			got = append(got, fmt.Sprint(err.Kind, " ", err.Begun))
		case r.Streamed:
			got = append(got, "end")
		default:
			got = append(got, string(r.Value))
		}
	}
	for stuck := 0; len(s.Calls)+len(calls) > 0 && stuck < 2; {
		s.Extend(max(0, first-len(s.Calls)))
		before := len(got)
		inst.CallSeries(ctx, s)
		sizes = append(sizes, len(got)-before)
		if stuck++; len(got) > before {
			stuck = 0
		}
	}
	return got, sizes
}

// TestSeries checks that calls that are sent together run one by one, including coroutines and
// streams, and that a call that fails, hangs or ends the worker does not harm the others.
func TestSeries(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no SIGINT for one process")
	}
	path := written(t, ordered)
	const long, short = 20 * time.Second, 300 * time.Millisecond
	for name, test := range map[string]struct {
		limit       time.Duration
		hooks, want []string
	}{
		"functions":  {long, []string{"count", "fail", "none", "exit", "items", "count"}, []string{"1", "hook true", "request false", "hook true", "end", "3"}},
		"coroutines": {long, []string{"later", "later", "count", "flow", "items", "later", "count"}, []string{"1", "2", "3", "end", "end", "5", "6"}},
		"a hang":     {short, []string{"count", "hang", "count", "hang", "count"}, []string{"1", "timeout true", "2", "timeout true", "3"}},
		"a long wait": {short, []string{"later", "wait", "later", "hang", "count", "later"},
			[]string{"1", "timeout true", "2", "timeout true", "3", "4"}},
		"a crash": {long, []string{"count", "leave", "count", "later"}, []string{"1", "crash true"}},
		"a loop":  {short, []string{"count", "loop", "count"}, []string{"1", "timeout true"}},
	} {
		for _, first := range []int{len(test.hooks), 1} {
			t.Run(fmt.Sprintf("%s/%d first", name, first), func(t *testing.T) {
				runnertest.Retry(t, func() error {
					inst := begin(t, path, modes["one"])
					got, _ := series(t.Context(), inst, test.limit, first, test.hooks...)
					if !slices.Equal(got, test.want) {
						err := fmt.Errorf("got  %q\nwant %q", got, test.want)
						if test.limit == long {
							t.Fatal(err)
						}
						return err // the worker may have been too slow
					}
					if len(test.want) == len(test.hooks) {
						if err := inst.Probe(t.Context()); err != nil {
							t.Error(err)
						}
					}
					return nil
				})
			})
		}
	}
}

// nextCount calls count once more, and checks the number of its calls so far.
func nextCount(t *testing.T, inst hook.Instance, want int) {
	t.Helper()
	r, err := inst.Call(t.Context(), hook.Call{Hook: "count"})
	if err != nil || string(r.Value) != fmt.Sprint(want) {
		t.Errorf("the next call returns %s, %v; want %d", r.Value, err, want)
	}
}

// TestSeriesHandedBack checks that the calls behind a slow one are handed back while it runs if
// they are wanted elsewhere, and that canceling ctx cancels the running call.
func TestSeriesHandedBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no SIGURG, and no SIGINT for one process")
	}
	path := written(t, "def begin():\n    yield 1\n    hang()\n"+ordered)
	for slow, before := range map[string]int{"hang": 50, "begin": 50, "wait": 50, "hang first": 0} {
		t.Run(slow, func(t *testing.T) {
			slow, _, _ := strings.Cut(slow, " ")
			inst := begin(t, path, modes["one"])
			ctx, cancel := context.WithCancelCause(t.Context())
			hooks := slices.Concat(slices.Repeat([]string{"count"}, before), []string{slow}, slices.Repeat([]string{"count"}, 20))
			s := &hook.Series{Emit: func(context.Context, hook.Item) error { return nil }}
			answered := 0 // on a busy machine, any call may be slow
			s.Wanted = func(slow bool) bool { return slow && answered == before }
			for _, name := range hooks {
				s.Calls = append(s.Calls, hook.Call{Hook: name})
			}
			back, kind := 0, hook.Kind("")
			s.HandedBack = func(n int) {
				back += n
				cancel(errors.New("enough"))
			}
			s.Answered = func(_ hook.Result, err *hook.Error) {
				if answered++; err != nil && err.Begun {
					kind = err.Kind
				}
			}
			inst.CallSeries(ctx, s)
			if back+len(s.Calls) != 20 || back == 0 || kind != hook.Canceled {
				t.Errorf("%d calls are handed back, %d are left; the slow one is %q", back, len(s.Calls), kind)
			}
			nextCount(t, inst, before+1)
		})
	}
}

// TestSeriesYields checks that a series of quick calls ends soon if another caller waits.
func TestSeriesYields(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no SIGURG")
	}
	inst := begin(t, written(t, "import time\ndef nap():\n    count()\n    time.sleep(0.002)\n"+ordered), modes["one"])
	answered, back := 0, 0
	s := &hook.Series{Calls: slices.Repeat([]hook.Call{{Hook: "nap"}}, 250), Wanted: func(slow bool) bool { return !slow }}
	s.HandedBack = func(n int) { back += n }
	s.Answered = func(_ hook.Result, err *hook.Error) {
		if answered++; err != nil {
			t.Error(err)
		}
	}
	if inst.CallSeries(t.Context(), s); answered+back+len(s.Calls) != 250 || answered == 250 {
		t.Errorf("%d calls are answered, %d handed back, %d left", answered, back, len(s.Calls))
	}
	nextCount(t, inst, answered+1)
}

// TestSeriesFailFast checks that no call after a failed one is made, in any part of the series.
func TestSeriesFailFast(t *testing.T) {
	for _, first := range []int{20, 5, 1} {
		inst := begin(t, written(t, ordered), modes["one"])
		hooks := slices.Concat(slices.Repeat([]string{"count"}, 10), []string{"fail"}, slices.Repeat([]string{"count"}, 400))
		var calls []hook.Call
		for _, name := range hooks {
			calls = append(calls, hook.Call{Hook: name})
		}
		s := &hook.Series{FailFast: true, Calls: calls[:first]}
		calls = calls[first:]
		s.More = func(n int) []hook.Call {
			more := calls[:min(n, len(calls))]
			calls = calls[len(more):]
			return more
		}
		answered := 0
		s.Answered = func(_ hook.Result, err *hook.Error) {
			if answered++; (err != nil) != (answered == 11) {
				t.Errorf("call %d: %v", answered, err)
			}
		}
		for answered < 11 { // if a part comes late, the rest is another series
			s.Extend(max(0, first-len(s.Calls)))
			inst.CallSeries(t.Context(), s)
		}
		if answered != 11 {
			t.Errorf("%d calls are answered, want 11", answered)
		}
		nextCount(t, inst, 11)
	}
}

// inParts is the behavior of a Python that answers a series of two streams in parts. Before
// each part it waits for the test, at the address in gateVariable.
const (
	inParts      = "in parts"
	gateVariable = "PYWORKER_TEST_GATE"
)

// pretendInParts acts as such a Python. It sends a frame of files to show that the frames before it
// were received.
func pretendInParts() {
	r := bufio.NewReader(os.Stdin)
	read := func(n int, kinds string) bool {
		for n > 0 {
			kind, _, err := readCommand(r)
			if err != nil {
				return false
			}
			if strings.ContainsRune(kinds, rune(kind)) {
				n--
			}
		}
		return true
	}
	pass := func() bool {
		conn, err := net.Dial("tcp", os.Getenv(gateVariable))
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
		}
		return errors.Is(err, io.EOF)
	}
	write := func(frames ...[]byte) bool {
		_, err := os.Stdout.Write(slices.Concat(frames...))
		return err == nil
	}
	_ = read(1, "L") &&
		write(packed('H', 0, `{"python":"3.12.4","implementation":"cpython","pid":1}`), packed('Y', 0, `{"module":"fake"}`)) &&
		read(2, "CA") && write(packed('I', 1, "1")) &&
		pass() && write(packed('Z', 1, ""), packed('I', 2, "1"), packed('F', 0, "[]")) &&
		pass() && write(packed('I', 2, "2"), packed('Z', 2, "")) &&
		read(1, "C") && write(packed('R', 3, "3"))
}

// TestSeriesStreamInParts checks that a stream whose first item came together with the previous
// answer is read to its end, although the worker has answered all calls meanwhile.
func TestSeriesStreamInParts(t *testing.T) {
	runnertest.NothingLeft(t)
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	gate, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	next := func() { // lets the worker send its next part
		if conn, err := gate.Accept(); err != nil || conn.Close() != nil {
			t.Error("the worker does not wait for its next part")
		}
	}
	received := make(chan struct{})
	inst, err := pyworker.New(pyworker.Config{
		Python: path, Plugin: zoo(t, "greeter.py"), DebugWire: true,
		Debug: func(_, text string) {
			if strings.HasPrefix(text, "from worker F ") {
				close(received)
			}
		},
		Env: proc.Environ(os.Environ(), false, []string{behavior + "=" + inParts, gateVariable + "=" + gate.Addr().String(), "GORACE=atexit_sleep_ms=0"}),
	}).Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inst.Stop(context.Background()) })
	items := 0
	emit := func(context.Context, hook.Item) error {
		if items++; items == 1 {
			next()
			<-received // waits for the answer and the next item, which are handled together
		}
		return nil
	}
	answered := 0
	s := &hook.Series{Calls: []hook.Call{{Hook: "one"}, {Hook: "two"}}, Emit: emit}
	s.Answered = func(_ hook.Result, err *hook.Error) {
		if err != nil {
			t.Error(err)
		}
		if answered++; answered == 1 {
			next()
			answers(t, inst, hook.Call{Hook: "three"}, "3") // the answer comes after the whole series
		}
	}
	if inst.CallSeries(t.Context(), s); answered != 2 || items != 3 {
		t.Errorf("%d calls were answered with %d items, want 2 with 3", answered, items)
	}
}
