package hook

import (
	"reflect"
	"testing"

	"github.com/pyplug/pyplug/runner/schema"
)

func TestStackFrames(t *testing.T) {
	f := func(file string, line int, function string) Frame {
		return Frame{File: schema.Path(file), Line: line, Function: function}
	}
	for name, c := range map[string]struct {
		lines []string
		want  []Frame
	}{
		"nothing":  {nil, nil},
		"no stack": {[]string{"hello", `  File "half`}, nil},
		"oldest first": {
			[]string{"Current thread 0x1 (most recent call first):", `  File "b.py", line 2 in inner`, `  File "a.py", line 1 in outer`},
			[]Frame{f("a.py", 1, "outer"), f("b.py", 2, "inner")},
		},
		"the current thread": {
			[]string{"Thread 0x1 (most recent call first):", `  File "a.py", line 1 in a`, "",
				"Current thread 0x2 (most recent call first):", `  File "b.py", line 2 in b`, "",
				"Thread 0x3 (most recent call first):", `  File "c.py", line 3 in c`},
			[]Frame{f("b.py", 2, "b")},
		},
		"else the first": {
			[]string{"Thread 0x1 (most recent call first):", `  File "a.py", line 1 in a`, "Thread 0x2:", `  File "b.py", line 2 in b`},
			[]Frame{f("a.py", 1, "a")},
		},
		"a current thread without frames": {
			[]string{"Thread 0x1:", `  File "a.py", line 1 in a`, "Current thread 0x2:", "  <no Python frame>"},
			[]Frame{f("a.py", 1, "a")},
		},
		"a quote in a name": {[]string{`  File "a"b.py", line 7 in f`}, []Frame{f(`a"b.py`, 7, "f")}},
	} {
		if got := StackFrames(c.lines); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
