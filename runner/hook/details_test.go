package hook

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/schema"
)

// numbered returns frames of a file at these lines.
func numbered(lines ...int) (frames []Frame) {
	for _, line := range lines {
		frames = append(frames, Frame{File: "r.py", Line: line})
	}
	return frames
}

func TestDetails(t *testing.T) {
	long := make([]int, 1200)
	for i := range long {
		long[i] = i + 1
	}
	var wide, deep Raised
	for range 40 {
		wide.Group = append(wide.Group, &Raised{Type: "E", Message: "m"})
		deep = Raised{Type: "E", Group: []*Raised{{Type: "E", Frames: numbered(long...), Cause: new(deep)}, {Type: "F", Frames: numbered(long...)}}}
	}
	for name, c := range map[string]struct {
		err  Error
		want string
	}{
		"a cause below a group": {Error{Python: &Raised{Type: "G", Group: []*Raised{{Type: "A", Message: "a\nnote", Cause: &Raised{Type: "B", Frames: numbered(1)}}}}},
			"G\n1 of 1: A: a\nnote\n  caused by B\n    r.py:1"},
		"repeated":         {Error{Python: &Raised{Type: "R", Frames: []Frame{{File: "/d/r.py", Line: 1, Text: "f()", Repeated: 996}}}}, "R\nr.py:1\n  f()\n[Previous line repeated 996 more times]"},
		"a repeated cycle": {Error{At: []Frame{{File: "r.py", Line: 1}, {File: "r.py", Line: 2, Repeated: 9, Cycle: 2}}}, "was at r.py:1\nwas at r.py:2\n[Previous 2 lines repeated 9 more times]"},
		"a long traceback": {Error{Python: &Raised{Type: "R", Frames: numbered(long...)}},
			"R\nr.py:1\nr.py:2\nr.py:3\nr.py:4\nr.py:5\n… frames left out\nr.py:1186\nr.py:1187\nr.py:1188\nr.py:1189\nr.py:1190\nr.py:1191\nr.py:1192\nr.py:1193\nr.py:1194\nr.py:1195\nr.py:1196\nr.py:1197\nr.py:1198\nr.py:1199\nr.py:1200"},
		"many members": {Error{Python: &wide}, ""},
		"too much":     {Error{Python: &deep}, ""},
	} {
		got := c.err.Details("", "/d")
		wrong := c.want != "" && strings.Join(got, "\n") != c.want
		switch last := got[len(got)-1]; name {
		case "many members":
			wrong = len(got) != 16 || got[14] != "15 of 40: E: m" || last != "… 25 more"
		case "too much":
			wrong = len(got) != maxDetails+1 || !strings.HasSuffix(last, " lines left out")
		}
		if wrong {
			t.Errorf("%s: got %.1000q", name, got)
		}
	}
}

func TestFoldFrames(t *testing.T) {
	repeated := func(f Frame, repeated, cycle int) Frame {
		f.Repeated, f.Cycle = repeated, cycle
		return f
	}
	f := numbered(0, 1, 2, 3)
	for name, c := range map[string]struct{ frames, want []Frame }{
		"none":                       {nil, nil},
		"too few":                    {numbered(1, 1, 1, 2, 3, 2, 3), numbered(1, 1, 1, 2, 3, 2, 3)},
		"one":                        {numbered(1, 2, 2, 2, 2, 2, 3), []Frame{f[1], repeated(f[2], 4, 0), f[3]}},
		"two":                        {numbered(3, 1, 2, 1, 2, 1, 2, 1, 2, 1), []Frame{f[3], f[1], repeated(f[2], 3, 2), f[1]}},
		"one after the other":        {numbered(1, 1, 1, 1, 2, 2, 2, 2), []Frame{repeated(f[1], 3, 0), repeated(f[2], 3, 0)}},
		"with repetitions within it": {numbered(1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 2, 3), []Frame{f[1], f[1], f[2], f[1], repeated(f[1], 3, 3), f[2], f[3]}},
		"a cycle that is too long": {numbered(1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9),
			numbered(1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9)},
	} {
		if got := FoldFrames(c.frames); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
	stack := []string{"Fatal Python error: Segmentation fault", "", "Current thread 0x1 (most recent call first):"}
	for range 90 {
		stack = append(stack, `  File "r.py", line 2 in f`)
	}
	if got, want := StackFrames(stack), []Frame{{File: schema.Path("r.py"), Line: 2, Function: "f", Repeated: 89}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
