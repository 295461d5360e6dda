//go:build linux

package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// ends maps the files that the plugin ends.py writes in calls with 1, 2 and 3, and at its end, to
// their content.
var ends = map[string]string{
	"text": "import, 1\n2\n3\n", "append": "import, 1\n2\n3\n", "lines": "import, 1\n2\n3\n", "layers": "import, 1\n2\n3\n",
	"binary": "import, 1\n2\n3\n", "unbuffered": "import, 1\n2\n3\n", "enclosed": "import, 1\n2\n3\n", "untouched": "import\n",
	"utf16": "\xff\xfei\x00m\x00p\x00o\x00r\x00t\x00,\x00 \x001\x00\n\x002\x00\n\x003\x00\n\x00",
	"rows":  "import\r\n1\r\n2\r\n3\r\n", "log": "import\nput 1\nput 2\nput 3\n", "memory log": "import\nput 1\nput 2\nput 3\n",
	"later": "1\n2\n3\n", "later rows": "1\r\n2\r\n3\r\n", "later bz2": "BZh91AY&SY\x12]\x9f\x8a\x00\x00\x01\xc8\x00\x00\x108\x00 \x00!\x9ah3M\x1c\xb7\x8b\xb9\x22\x9c(H\x09.\xcf\xc5\x00", "thread": "ended\n",
	"atexit": "ended\n", "deleted": "ended\n", "cycle": "ended\n",
	"later atexit": "ended\n", "later deleted": "ended\n", "later cycle": "ended\n", "later finalize": "ended\n",
}

// TestEnds checks that a worker ends as a Python program does, whether it was forked or not: the
// plugin's open files are written once, and the rest is finalized.
func TestEnds(t *testing.T) {
	t.Parallel()
	plugin, err := filepath.Abs("testdata/plugins/ends.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, python := range runnertest.Pythons(t) {
		for name, words := range map[string][]string{
			"off": {"--preload=off", plugin, "put"}, "auto": {"--preload=auto", plugin, "put"}, "force": {"--preload=force", plugin, "put"},
			"async off": {"--preload=off", plugin, "put_async"}, "async": {plugin, "put_async"},
			"stream off": {"--preload=off", plugin, "put_stream"}, "stream": {plugin, "put_stream"},
			"threads off": {"--preload=off", "--concurrency=3", "--threads", plugin, "put_all"},
			"threads":     {"--concurrency=3", "--threads", plugin, "put_all"},
			"run":         nil, "start off": {"--preload=off"}, "start": {"--preload=auto"},
		} {
			// One at a time, because a worker that takes a second to end is terminated, and a busy
			// machine is slow.
			t.Run(filepath.Base(filepath.Dir(filepath.Dir(python)))+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				env := []string{"PYPLUG_PYTHON=" + python, "ENDS=" + dir}
				switch {
				case name == "run":
					endsOf(t, env, "", "run", plugin, "put_all")
				case strings.HasPrefix(name, "start"):
					endsInBackground(t, env, append(words, plugin)...)
				case strings.HasPrefix(name, "threads"):
					endsOf(t, env, "{}\n", append([]string{"run", "--lines"}, words...)...)
				default:
					endsOf(t, env, "1\n2\n3\n", append([]string{"run", "--lines"}, words...)...)
				}
				wantEnds(t, dir)
			})
		}
	}
}

// endsOf runs pyplug to its end. It must write nothing to standard error.
func endsOf(t *testing.T, env []string, input string, words ...string) {
	t.Helper()
	s := pyplug(t, env, words...)
	s.Stdin = strings.NewReader(input)
	if err := s.Run(); err != nil || s.errs.Len() > 0 {
		t.Errorf("%v, standard error %q", err, &s.errs)
	}
}

// endsInBackground starts, calls and stops a plugin.
func endsInBackground(t *testing.T, env []string, words ...string) {
	t.Helper()
	d := newDaemons(t)
	d.env = append(d.env, env...)
	d.wants("ends", append([]string{"start"}, words...)...)
	for _, x := range []string{"1", "2", "3"} {
		d.wants(x, "call", "ends", "put", x)
	}
	if _, errs, code := d.pyplug("stop", "ends"); code != 0 {
		t.Errorf("stop: exit code %d\n%s", code, errs)
	}
}

// wantEnds compares the files of a directory with ends.
func wantEnds(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if _, ok := ends[entry.Name()]; !ok {
			t.Errorf("%s is left", entry.Name())
		}
	}
	for name, want := range ends {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v, want %q", name, text, err, want)
		}
	}
}
