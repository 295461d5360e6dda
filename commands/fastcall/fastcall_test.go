//go:build linux || darwin

package fastcall

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/daemon"
)

// TestRules holds that names and directories are those of package daemon.
func TestRules(t *testing.T) {
	for _, name := range []string{"p", "0", "a-b_c", "a-", "", "-a", "_a", "A", "a.py", "a/b", "ü", "a b", "a\x00"} {
		if validName(name) != daemon.ValidName(name) {
			t.Errorf("%q: %v", name, validName(name))
		}
	}
	base := t.TempDir()
	for _, dirs := range [][2]string{{"", ""}, {"/run/ci", base}, {"here", ""}, {"", base}, {"", base + "//"}, {"", base + "/none"}, {"", "relative"}, {"", "/proc"}} {
		t.Setenv("PYPLUG_RUN_DIR", dirs[0])
		t.Setenv("XDG_RUNTIME_DIR", dirs[1])
		if got, want := runDirs(), daemon.RunDirs(); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", dirs, got, want)
		}
	}
}

func TestPlainWords(t *testing.T) {
	for line, want := range map[string]bool{
		"n greet": true, "n greet a b=c =d :=1": true, "n greet é": true,
		"--raw n greet": false, "n --raw greet": false, "n greet -5": false, "n greet a@=f": false, "n greet a@b": false,
		"n greet \xff": false, "n ..": false,
	} {
		if got := plainWords(strings.Split(line, " ")); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// TestParse holds which answers are printed here.
func TestParse(t *testing.T) {
	const head, kind = "HTTP/1.1 200 OK\r\nPyplug-Api: 1\r\n", "Content-Type: application/json\r\nContent-Length: 3\r\n\r\n"
	for answer, want := range map[string]struct {
		result       string
		whole, plain bool
	}{
		"":                     {"", false, true},
		head:                   {"", false, true},
		head + kind + "\"a":    {"", false, true},
		head + kind + "\"a\"":  {`"a"`, true, true},
		head + kind + "\"a\" ": {"", false, false},
		head + kind + "\"\n\"": {"", false, false},
		head + kind + " 1 ":    {"", false, false},
		head + "Pyplug-Notes: []\r\n" + kind + "\"a\"":                     {"", false, false},
		strings.Replace(head, "200 OK", "404 Not Found", 1) + kind + "123": {"", false, false},
		strings.Replace(head, "Api: 1", "Api: 2", 1) + kind + "123":        {"", false, false},
		head + "Content-Type: application/x-ndjson\r\n\r\n":                {"", false, false},
		strings.Repeat("x", 5000):                                          {"", false, false},
	} {
		result, whole, plain := parse([]byte(answer))
		if string(result) != want.result || whole != want.whole || plain != want.plain {
			t.Errorf("%.80q: %q, %v, %v", answer, result, whole, plain)
		}
	}
}
