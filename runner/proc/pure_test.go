package proc

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestEnviron(t *testing.T) {
	base := []string{"PATH=/bin", "HOME=/h", "TOKEN=t", "PYTHONHOME=/x", "PYTHONEXECUTABLE=/y",
		"__PYVENV_LAUNCHER__=/z", "PYTHONPATH=/p", "LC_ALL=C", "bad", "=bad", "PATH=/usr/bin"}
	tests := []struct {
		name    string
		clean   bool
		windows bool
		base    []string
		set     []string
		want    string
	}{
		{"plain", false, false, base, nil, "PATH=/usr/bin HOME=/h TOKEN=t PYTHONPATH=/p LC_ALL=C"},
		{"clean", true, false, base, nil, "PATH=/usr/bin HOME=/h LC_ALL=C"},
		{"clean, Python's own", true, false, []string{"PYTHONUTF8=1", "PYTHONIOENCODING=utf-8", "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1",
			"PYTHONPYCACHEPREFIX=/c", "PYTHONHASHSEED=0", "PYTHONSTARTUP=/s", "PYTHONOPTIMIZE=2", "PYTHONWARNINGS=error", "PYTHONINSPECT=1",
			"PYTHONBREAKPOINT=x", "PYTHONUSERBASE=/u", "PYTHONUTF8X=1"}, nil,
			"PYTHONUTF8=1 PYTHONIOENCODING=utf-8 PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPYCACHEPREFIX=/c PYTHONHASHSEED=0"},
		{"set", false, false, base[:2], []string{"A=1", "HOME=", "A=2"}, "PATH=/bin HOME= A=2"},
		{"pass", true, false, base, []string{"TOKEN", "PYTHONPATH", "ABSENT"}, "PATH=/usr/bin HOME=/h LC_ALL=C TOKEN=t PYTHONPATH=/p"},
		{"value with equals", false, false, nil, []string{"A=b=c"}, "A=b=c"},
		{"named on purpose", true, false, base, []string{"PYTHONHOME=/q"}, "PATH=/usr/bin HOME=/h LC_ALL=C PYTHONHOME=/q"},
		{"case", true, false, []string{"Path=/bin", "SystemRoot=x"}, nil, ""},
		{"windows", true, true, []string{"Path=/bin", "SystemRoot=x", "Secret=1", "=C:=C:\\"}, []string{"PATH=/b"}, "PATH=/b SystemRoot=x"},
		{"windows drive", false, true, []string{`=C:=C:\`, "pythonhome=1"}, nil, `=C:=C:\`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			want := slices.Sorted(strings.FieldsSeq(test.want))
			if got := environ(test.base, test.clean, test.set, test.windows); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestSplitter(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	tests := []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"\n", []string{"+0"}},
		{"a\nb", []string{"a+0", "b+0"}},
		{"a\r\nb\r\n", []string{"a+0", "b+0"}},
		{"a\rb\r\r\n", []string{"a\rb\r+0"}},
		{long + "\n", []string{long + "+0"}},
		{long + "\r\n", []string{long + "+1"}},
		{long + "yz\na", []string{long + "+2", "a+0"}},
		{long + "yz\r\na", []string{long + "+3", "a+0"}},
		{long + long + long, []string{fmt.Sprintf("%s+%d", long, 2*maxLine)}},
		{"\xff\x00\n", []string{"\xff\x00+0"}},
	}
	for _, test := range tests {
		for _, size := range []int{1, 2, 3, 1000, maxLine, maxLine + 1, 1 << 20} {
			var s splitter
			var got []string
			emit := func(line []byte, cut int) { got = append(got, fmt.Sprintf("%s+%d", line, cut)) }
			for in := test.in; in != ""; in = in[min(size, len(in)):] {
				s.feed([]byte(in[:min(size, len(in))]), emit)
			}
			s.end(emit)
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("%.20q in pieces of %d: got %.40q, want %.40q", test.in, size, got, test.want)
			}
		}
	}
}

func TestIsStack(t *testing.T) {
	tests := []struct {
		line   string
		inside bool
		want   bool
	}{
		{"Thread 0x00007f0011223344 (most recent call first):", false, true},
		{"Current thread 0x00007f0011223344 [python] (most recent call first):", false, true},
		{`  File "/a/b.py", line 5 in f`, false, true},
		{"  ...", false, true},
		{"  <no Python frame>", false, true},
		{"", true, true},
		{"", false, false},
		{"Traceback (most recent call last):", true, false},
		{`File "x", line 2`, true, false},
		{"Thread started", true, false},
	}
	for _, test := range tests {
		if got := isStack([]byte(test.line), test.inside); got != test.want {
			t.Errorf("%q, inside %v: got %v", test.line, test.inside, got)
		}
	}
}
