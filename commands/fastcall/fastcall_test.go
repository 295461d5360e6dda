//go:build linux || darwin

package fastcall

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

// TestRules checks that package daemon has the same rules for names, directories, and safe
// directories.
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
	t.Chdir(base)
	for name, make := range map[string]func(path string) error{
		"private":  func(path string) error { return os.Mkdir(path, 0o700) },
		"readable": func(path string) error { return os.Mkdir(path, 0o755) },
		"file":     func(path string) error { return os.WriteFile(path, nil, 0o700) },
		"link":     func(path string) error { return os.Symlink("private", path) },
	} {
		if err := make(name); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{filepath.Join(base, name), name, "./" + name} {
			t.Setenv("PYPLUG_RUN_DIR", dir)
			_, err := daemon.Open(t.Context(), "p")
			if got, want := safeDir(dir), daemon.Is(err, daemon.NotRunning); got != want {
				t.Errorf("%s: %v, want %v as of %v", dir, got, want, err)
			}
		}
	}
}

func TestPlainWords(t *testing.T) {
	for line, want := range map[string]bool{
		"greet": true, "greet a b=c =d :=1": true, "greet é": true, "..": true,
		"--raw greet": false, "greet -5": false, "greet a@=f": false, "greet a@b": false, "greet \xff": false, "": false,
	} {
		if got := plainWords(strings.Split(line, " ")); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// TestParse checks which answers fastcall prints.
func TestParse(t *testing.T) {
	const head, kind = "HTTP/1.1 200 OK\r\nPyplug-Api: 1\r\n", "Content-Type: application/json\r\nContent-Length: 3\r\n\r\n"
	for answer, want := range map[string]struct {
		result string
		more   bool
	}{
		"":                     {"", true},
		head:                   {"", true},
		head + kind + "\"a":    {"", true},
		head + kind + "\"a\"":  {`"a"`, false},
		head + kind + "\"\n\"": {"", false},
		head + kind + " 1 ":    {"", false},
		head + "Pyplug-Notes: []\r\n" + kind + "\"a\"":                     {"", false},
		strings.Replace(head, "200 OK", "404 Not Found", 1) + kind + "123": {"", false},
		strings.Replace(head, "Api: 1", "Api: 2", 1) + kind + "123":        {"", false},
		head + "Content-Type: application/x-ndjson\r\n\r\n":                {"", false},
	} {
		if result, more := parse(answer); result != want.result || more != want.more {
			t.Errorf("%.80q: %q, %v", answer, result, more)
		}
	}
}

// TestRequest checks the form of words and hooks, and that a daemon reads the same words.
func TestRequest(t *testing.T) {
	words := []string{"\"\\\n", "é"}
	got := request("a/b.C", words)
	head, body, _ := strings.Cut(got, "\r\n\r\n")
	if !strings.HasPrefix(head, "POST /hooks/a%2Fb%2EC HTTP/1.1\r\n") || !strings.HasSuffix(head, "\r\nContent-Length: 57") ||
		body != `{"words":[{"typed":"\u0022\u005C\u000A"},{"typed":"é"}]}` {
		t.Errorf("got %q", got)
	}
	if api := "\r\nPyplug-Api: " + strconv.Itoa(daemon.API) + "\r\n"; !strings.Contains(head, api) {
		t.Errorf("%q has no %q", head, api)
	}
	want, _ := schema.ParseWords(words, nil)
	if args, err := wire.DecodeArgs([]byte(body), true); err != nil || !reflect.DeepEqual(args.Words, want) {
		t.Errorf("the daemon reads %+v, %v, want %+v", args.Words, err, want)
	}
}
