package cases

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// fake is a plugin whose process counts its calls. The hooks die and hang end the process; die2 and
// hang2 do so unless it is fresh. raise fails, flaky fails once, and sick makes the process
// unhealthy.
type fake struct {
	hook.Plugin
	mu     sync.Mutex
	pid    int
	calls  int
	dead   bool
	sick   bool
	flaky  bool
	broken int    // the number of the process that cannot start, or 0
	stop   func() // called by the hook stop
}

func (f *fake) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return hook.Result{}, &hook.Error{Kind: hook.Unavailable, Err: errors.New("the plugin exited")}
	}
	f.calls++
	fail := func(kind hook.Kind) (hook.Result, error) {
		f.dead = kind == hook.Crash
		return hook.Result{}, &hook.Error{Kind: kind, Begun: true, Err: errors.New(string(kind))}
	}
	switch {
	case c.Hook == "die", c.Hook == "die2" && f.calls > 1:
		return fail(hook.Crash)
	case c.Hook == "hang", c.Hook == "hang2" && f.calls > 1:
		return fail(hook.Timeout)
	case c.Hook == "raise", c.Hook == "flaky" && !f.flaky:
		f.flaky = c.Hook == "flaky"
		return fail(hook.Failed)
	case c.Hook == "sick":
		f.sick = true
	case c.Hook == "quit": // answers and then exits
		f.dead = true
	case c.Hook == "stop":
		f.stop()
	}
	return hook.Result{Item: hook.Item{Value: fmt.Appendf(nil, "%d", f.pid)}}, nil
}

func (f *fake) Health(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sick {
		return &hook.Error{Kind: hook.Unhealthy, Err: errors.New("sick")}
	}
	return nil
}

func (f *fake) Status(context.Context) (hook.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return hook.Status{PID: f.pid}, nil
}

// replaceable is a fake whose process can be replaced.
type replaceable struct{ *fake }

func (f replaceable) Replace(context.Context, string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pid++
	f.calls, f.dead, f.sick = 0, false, false
	if f.pid == f.broken {
		return &hook.Error{Kind: hook.Start, Err: errors.New("no start")}
	}
	return nil
}

// play runs files. Each file is a list of hooks to call. play returns a line for each case, with
// the file and line, the status, and the other fields of the result that are set.
func play(t *testing.T, f *fake, o Options, files ...string) (report string, err error) {
	t.Helper()
	var parsed []*File
	for i, names := range files {
		text := ""
		for name := range strings.FieldsSeq(names) {
			hookName, pid, wants := strings.Cut(name, "=")
			text += fmt.Sprintf(`{"hook": %q`, hookName)
			if wants {
				text += `, "result": ` + pid
			}
			text += "}\n"
		}
		file, err := Parse(string(rune('a'+i)), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	var lines []string
	o.Start = func(context.Context) (hook.Plugin, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.pid++
		return replaceable{f}, nil
	}
	o.Done = func(r *Result) {
		line := fmt.Sprintf("%s%d %s", r.File, r.Line, r.Status)
		if r.After > 0 {
			line += fmt.Sprintf(" after %d", r.After)
		}
		if r.Flaky() {
			line += " flaky"
		}
		if r.Blame != "" {
			line += " " + r.Blame
		}
		if r.Failure != nil {
			line += ": " + r.Failure.Differences[0].Message
		}
		lines = append(lines, line)
	}
	o.Ended = func(f *FileResult) {
		if f.Note != "" {
			lines = append(lines, f.Note)
		}
	}
	_, err = Run(t.Context(), o, parsed)
	return strings.Join(lines, "\n"), err
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     Options
		files []string
		want  []string
		err   string
	}{
		{"file", Options{Isolate: PerFile}, []string{"count=1 count=1", "count=2"}, []string{"a1 passed", "a2 passed", "b1 passed"}, ""},
		{"case", Options{Isolate: PerCase}, []string{"count=1 count=2", "count=3"}, []string{"a1 passed", "a2 passed", "b1 passed"}, ""},
		{"none", Options{Isolate: None}, []string{"count=1", "count=1"}, []string{"a1 passed", "b1 passed"}, ""},
		{"lazy", Options{Isolate: Lazy}, []string{"count=1", "sick=1", "count=2", "count=2"},
			[]string{"a1 passed", "b1 passed", "c1 passed", "c: started a fresh process, because b left one that is not healthy: sick", "d1 passed"}, ""},
		{"not healthy, and not replaced", Options{Isolate: None}, []string{"sick", "count=1"},
			[]string{"a1 passed", "b1 passed", "b: shares its process with a, which had one that is not healthy: sick"}, ""},
		{"dies alone", Options{Isolate: PerFile}, []string{"count die count=3", "count=4"}, []string{
			"a1 passed", "a2 failed also crashes in its own process: die: crash", "a3 passed after 2", "b1 passed", "b: started a fresh process, because a left one that crashed at line 2 (pid 1)"}, ""},
		{"dies after others", Options{Isolate: PerFile}, []string{"count count die2 count=3"}, []string{
			"a1 passed", "a2 passed", "a3 failed crashes only after the 2 cases before it: die2: crash", "a4 passed after 3"}, ""},
		{"dies first", Options{Isolate: PerFile}, []string{"die count=2"}, []string{"a1 failed: die: crash", "a2 passed after 1"}, ""},
		{"hangs after others", Options{Isolate: PerFile}, []string{"count count hang2 count=3"}, []string{
			"a1 passed", "a2 passed", "a3 failed hangs only after the 2 cases before it: hang2: timeout", "a4 passed after 3"}, ""},
		{"hangs", Options{Isolate: None}, []string{"count hang", "count=3"}, []string{
			"a1 passed", "a2 failed also hangs in its own process: hang: timeout", "b1 passed", "b: started a fresh process, because a left one that timed out at line 2 (pid 1)"}, ""},
		{"dies between cases", Options{Isolate: PerFile}, []string{"quit count=2", "count=3"}, []string{
			"a1 passed", "a2 passed", "b1 passed", "b: started a fresh process, because a left one that exited before line 2 (pid 1)"}, ""},
		{"flaky", Options{Isolate: PerFile, Retries: 2}, []string{"flaky"}, []string{"a1 passed flaky"}, ""},
		{"retried", Options{Isolate: PerFile, Retries: 2}, []string{"raise count=1"}, []string{"a1 failed: raise: hook", "a2 passed"}, ""},
		{"a retry shows the blame", Options{Isolate: PerFile, Retries: 1}, []string{"count die count=3"}, []string{
			"a1 passed", "a2 failed also crashes in its own process: die: crash", "a3 passed after 2"}, ""},
		{"a retry in a fresh process", Options{Isolate: PerFile, Retries: 1}, []string{"count die2 count=2"}, []string{
			"a1 passed", "a2 passed flaky", "a3 passed after 2"}, ""},
		{"fail-fast", Options{Isolate: PerFile, FailFast: true}, []string{"raise count", "count"}, []string{"a1 failed: raise: hook", "a2 not run", "b1 not run"}, ""},
		{"no start", Options{Isolate: PerCase}, []string{"count count count"}, []string{"a1 passed", "a2 not run", "a3 not run"}, "no start"},
		{"stop", Options{Isolate: PerFile}, []string{"count stop count"}, []string{"a1 passed", "a2 passed", "a3 not run"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{}
			if c.err != "" {
				f.broken = 2
			}
			stop := make(chan struct{})
			f.stop, c.o.Stop = func() { close(stop) }, stop
			got, err := play(t, f, c.o, c.files...)
			if want := strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if text := fmt.Sprint(err); c.err == "" && err != nil || c.err != "" && text != c.err {
				t.Errorf("the error is %v, want %q", err, c.err)
			}
		})
	}
}

// TestJobs checks that the report is in the order of the files, however many run at a time.
func TestJobs(t *testing.T) {
	var files, want []string
	for i := range 9 {
		files = append(files, "count raise")
		name := string(rune('a' + i))
		want = append(want, name+"1 passed", name+"2 failed: raise: hook")
	}
	o := Options{Isolate: None, Jobs: 4}
	got, err := play(t, &fake{}, o, files...)
	if !slices.Equal(strings.Split(got, "\n"), want) || err != nil {
		t.Errorf("%v, got\n%s", err, got)
	}
}

// TestMemory checks that a case that passes takes little memory in addition to its line, because a
// file may have millions of cases.
func TestMemory(t *testing.T) {
	const n = 10_000
	text := strings.Repeat(`{"hook": "count", "contains": 1}`+"\n", n)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	file, err := Parse("a", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var all []*FileResult
	o := Options{Isolate: None, Start: func(context.Context) (hook.Plugin, error) { return &fake{pid: 1}, nil },
		Done: func(*Result) {}, Ended: func(f *FileResult) { all = append(all, f) }}
	if _, err := Run(t.Context(), o, []*File{file}); err != nil {
		t.Fatal(err)
	}
	each := (int64(heap()) - int64(before)) / n
	if limit := int64(len(text)/n) + 64; each > limit {
		t.Errorf("a case takes %d bytes, want at most %d", each, limit)
	}
	if all[0].Count[Passed] != n {
		t.Errorf("%v, want %d passed", all[0].Count, n)
	}
}
