package cases

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
)

// caller answers a call with its hook and arguments. For the hook "items" the answer is a stream.
type caller struct{ calls atomic.Int64 }

func (c *caller) Call(_ context.Context, call hook.Call) (hook.Result, error) {
	c.calls.Add(1)
	value, _ := json.Marshal([]any{call.Hook, string(call.Args.JSON), call.Args.Words})
	switch call.Hook {
	case "fail":
		return hook.Result{}, &hook.Error{Kind: hook.Failed, Begun: true}
	case "items":
		for i := range 3 {
			if err := call.Emit(hook.Item{Value: value, Binary: i == 1}); err != nil {
				return hook.Result{}, hook.AsError(err)
			}
		}
		return hook.Result{Streamed: true}, nil
	case "long":
		for range 17 {
			if err := call.Emit(hook.Item{Value: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)}); err != nil {
				return hook.Result{}, hook.AsError(err)
			}
		}
		return hook.Result{Streamed: true}, nil
	case "bytes":
		return hook.Result{Item: hook.Item{Value: []byte("hi"), Binary: true}}, nil
	case "sole":
		return hook.Result{Item: hook.Item{Value: []byte(`{"a":"b"}`), Sole: "a"}}, nil
	}
	return hook.Result{Item: hook.Item{Value: value}}, nil
}

// run answers the lines of in with the record at path. It returns its output and the number of
// calls that it made.
func run(t *testing.T, path, in string, change func(*lines.Options)) (string, int) {
	t.Helper()
	r, err := OpenRecord(path, Head{Plugin: "p", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Begin("x"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := &caller{}
	o := lines.Options{In: strings.NewReader(in), Out: &out, Record: r, Error: errorJSON}
	if change != nil {
		change(&o)
	}
	if err := lines.New(c, o).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String(), int(c.calls.Load())
}

func errorJSON(_ int, err *hook.Error) json.RawMessage {
	return json.RawMessage(`{"kind":"` + string(err.Kind) + `"}`)
}

// some has lines with calls of all kinds. Two calls are equal.
const some = `{"hook":"f","args":[1, "a b"]}
{"hook":"f","args":[1,"a b"],"id":{"x": "y"}}
{"hook":"items","args":{}}

{"hook":"f","text":"text"}
{"hook":"f","base64":"/w=="}
{"hook":"f"}
{"hook":"sole"}
{"hook":"bytes"}
`

// TestRecordCut checks that a record may be cut at any byte. The answers that are left are used,
// and the other lines are called again.
func TestRecordCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r")
	want, calls := run(t, path, some, nil)
	if calls != 8 {
		t.Fatalf("%d calls, want 8", calls)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		got, calls := run(t, path, some, nil)
		if kept := max(0, bytes.Count(whole[:n], []byte("\n"))-1); got != want || calls != 8-kept {
			t.Fatalf("cut at byte %d: %d calls, want %d, and got\n%swant\n%s", n, calls, 8-kept, got, want)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, whole) {
			t.Fatalf("cut at byte %d: the record is now\n%swant\n%s", n, now, whole)
		}
	}
}

// TestRecordOccurrences checks that each of several equal lines is called once, that failed calls
// are made again, and that the last answer of an occurrence replaces earlier ones.
func TestRecordOccurrences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r")
	f, fail := `{"hook":"f"}`+"\n", `{"hook":"fail"}`+"\n"
	for i, c := range []struct {
		in    string
		calls int
	}{
		{f + f, 2}, {f + f, 0}, {f, 0}, {f + f + f, 1}, {f + fail + f + fail, 2}, {fail + fail + f, 2},
	} {
		if _, calls := run(t, path, c.in, nil); calls != c.calls {
			t.Errorf("run %d: %d calls, want %d", i, calls, c.calls)
		}
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fmt.Fprintln(file, `{"hook":"f","occurrence":2,"result":"later"}`)
	fmt.Fprintln(file, `{"hook":"f","occurrence":3,"error":{"kind":"hook"}}`)
	out, calls := run(t, path, f+f+f, func(o *lines.Options) {
		o.Raw = func(dst []byte, item hook.Item) []byte { return append(append(dst, item.Value...), '\n') }
	})
	if calls != 1 || !strings.Contains(out, "\n\"later\"\n") {
		t.Errorf("%d calls, want 1, and printed %s", calls, out)
	}
}

// TestRecordKeys checks that calls with the same key never get each other's answers.
func TestRecordKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r")
	run(t, path, strings.Repeat(`{"hook":"f","args":[1]}`+"\n", 2), nil)
	r, err := OpenRecord(path, Head{Plugin: "p", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	call := lines.Call{Hook: "f", Args: []byte("[1]")}
	first := r.index[keyOf(call, 1)]
	for _, other := range []lines.Call{{Hook: "g", Args: call.Args}, {Hook: "f", Args: []byte("[2]")}, {Hook: "f", Text: call.Args}, {Hook: "f"}} {
		r.index[keyOf(other, 1)] = first
		_, read := r.Find(other)
		if kept, err := read(); kept != nil || err != nil {
			t.Errorf("%s(%s%s) got %v, %v", other.Hook, other.Args, other.Text, kept, err)
		}
	}
	r.index[keyOf(call, 2)] = first
	for n, want := range []bool{true, false} {
		_, read := r.Find(call)
		if kept, err := read(); (kept != nil) != want || err != nil {
			t.Errorf("occurrence %d got %v, %v", n+1, kept, err)
		}
	}
}

// TestRecordFirst checks that an answer is in the record before its last line is printed.
func TestRecordFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r")
	printed := 0
	run(t, path, strings.Repeat(some, 300), func(o *lines.Options) {
		o.Jobs, o.Series = 3, 1
		o.Out = writerFunc(func(text []byte) (int, error) {
			printed += bytes.Count(text, []byte(`,"result":`)) + bytes.Count(text, []byte(`,"done":`))
			kept, err := os.ReadFile(path)
			if n := bytes.Count(kept, []byte("\n")) - 1; n < printed {
				t.Errorf("%d answers are printed, and the record has %d", printed, n)
			}
			return len(text), err
		})
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

// TestRecordLong checks that a stream that is too long to be held in memory is printed, but not
// kept.
func TestRecordLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r")
	for range 2 {
		out, calls := run(t, path, `{"hook":"long"}`+"\n"+`{"hook":"items"}`+"\n", nil)
		if items := strings.Count(out, `,"item":`); items != 17+3 || calls == 0 {
			t.Errorf("%d items, %d calls", items, calls)
		}
	}
	if kept, err := os.ReadFile(path); err != nil || bytes.Count(kept, []byte("\n")) != 2 {
		t.Errorf("%v, the record has %d bytes", err, len(kept))
	}
}

// TestRecordLines checks that OpenRecord rejects invalid lines.
func TestRecordLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r")
	for line, want := range map[string]string{
		`{"hook":"f"}`:                             `the line has no answer and no "error"`,
		`{"hook":"f","result":1,"items":[]}`:       `the line has more than one of "result", "items" and "error", expected one`,
		`{"hook":"f","result":1,"result":2}`:       `"result" is given twice`,
		`{"hook":"f","result":1,"occurrence":0}`:   `"occurrence" is 0, expected a number from 1`,
		`{"hook":"f","result":1,"occurrence":"2"}`: `"occurrence" is "2", expected a number from 1`,
	} {
		if err := os.WriteFile(path, []byte(`{"record":{"plugin":"p"}}`+"\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenRecord(path, Head{Plugin: "p"})
		if err == nil {
			_ = r.Close()
		}
		if want = "record: " + path + ":2: " + want; err == nil || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", line, err, want)
		}
	}
}

// TestRecordNaN checks that an answer that is not JSON is not kept, because it would make the
// record invalid.
func TestRecordNaN(t *testing.T) {
	c := lines.Call{Hook: "f"}
	for value, kept := range map[string]bool{`[NaN]`: false, `-Infinity`: false, `"NaN"`: true} {
		if got := lines.AppendKept(nil, c, 1, &lines.Answer{Item: hook.Item{Value: []byte(value)}}); (len(got) > 0) != kept {
			t.Errorf("%s is kept as %q", value, got)
		}
	}
}

// TestRecordFull checks that an answer is not printed if it cannot be recorded.
func TestRecordFull(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /dev/full")
	}
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := &Record{file: full, index: map[key]entry{}, again: map[key]int{}}
	defer r.Close()
	var out bytes.Buffer
	err = lines.New(&caller{}, lines.Options{In: strings.NewReader(some), Out: &out, Record: r, Error: errorJSON}).Run(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "the record: write /dev/full: ") || out.Len() > 0 {
		t.Errorf("got %v, and printed %q", err, &out)
	}
}

// FuzzRecord checks that a record that can be opened can be continued, and that a rejected one is
// not changed.
func FuzzRecord(f *testing.F) {
	const head = `{"record":{"plugin":"p","version":"1"}}` + "\n"
	for _, seed := range []string{"", head, head + `{"hook":"f","result":1}`, head + `{"hook":"f","items":[1,"a"],"binary":[false,true]}` + "\n",
		head + `{"hook":"f","occurrence":2,"error":{}}` + "\n" + head, head + `{"hook":"f","result":1,"sole":5,"binary":1}` + "\n", "\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "r")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenRecord(path, Head{Plugin: "p", Version: "1"})
		if err != nil {
			if now, _ := os.ReadFile(path); !bytes.Equal(now, text) {
				t.Error("a record that was refused is changed")
			}
			return
		}
		defer r.Close()
		if _, read := r.Find(lines.Call{Hook: "f"}); read != nil {
			_, _ = read() // returns an error if the answer has a wrong shape
		}
		if err := r.Begin("x"); err != nil {
			t.Error(err)
		}
	})
}
