//go:build linux

package commands_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestCheckSignals checks that an interrupted check reports what it has found so far, and leaves
// nothing.
func TestCheckSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal syscall.Signal
		code   int
		words  []string
		out    []string
		err    string
	}{
		"interrupt": {syscall.SIGINT, 130, []string{"hang_import.py"},
			[]string{"  ok       source ", "  skipped  launch: interrupted", "ended early: interrupted (exit 130)"}, "error: canceled: interrupted"},
		"terminate": {syscall.SIGTERM, 143, []string{"hang_import.py"}, []string{"ended early: terminated (exit 143)"}, "error: canceled: terminated"},
		"hang up":   {syscall.SIGHUP, 129, []string{"hang_import.py"}, []string{"ended early: "}, "error: canceled: "},
		"in a call": {syscall.SIGINT, 130, []string{"--call", "hang marker=MARKER", "hang_swallow.py"},
			[]string{"  ok       launch ", "ended early: interrupted (exit 130)"}, "error: hang: interrupted\n  was at testdata/plugins/hang_swallow.py:"},
		"of several": {syscall.SIGINT, 130, []string{"-j", "2", "hang_import.py", "hang_sleep.py", "greeter.py"},
			[]string{"ended early: interrupted (exit 130)"}, "error: canceled: interrupted"},
		"JSON": {syscall.SIGINT, 130, []string{"--json", "hang_import.py"},
			[]string{`"verdict":"failure","exit_code":130,`, `{"name":"source","status":"ok",`, `"error":{"kind":"canceled","message":"interrupted"`}, ""},
		"after a failure": {syscall.SIGINT, 130, []string{"syntax_error.py", "hang_import.py"},
			[]string{"[syntax-error]", "ended early: interrupted (exit 130)"}, "hang_import.py:"},
		"JSON after a failure": {syscall.SIGINT, 130, []string{"--json", "syntax_error.py", "hang_import.py"},
			[]string{`"id":"syntax-error"`, `"exit_code":5,`, `"exit_code":130,`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := []string{"check"}
			for _, w := range c.words {
				if strings.HasSuffix(w, ".py") {
					w = filepath.Join("testdata/plugins", w)
				}
				words = append(words, w)
			}
			env := []string{"HANG_IMPORT_MARKER=MARKER", "GITHUB_ACTIONS=", "TMPDIR=" + leftEmpty(t)}
			s := pyplug(t, env, words...)
			s.start(t)
			if err := s.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			s.ends(t, c.code)
			for _, want := range c.out {
				if !strings.Contains(s.out.String(), want) {
					t.Errorf("standard output has no %q", want)
				}
			}
			if got := s.errs.String(); !strings.Contains(got, c.err) || c.err == "" && got != "" {
				t.Errorf("standard error is %q, want %q in it", got, c.err)
			}
		})
	}
}

// TestCheckStandardOutput checks that a standard output that cannot be written is a failure.
func TestCheckStandardOutput(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, words := range [][]string{{"check"}, {"check", "--json"}} {
		s := pyplug(t, nil, append(words, "testdata/plugins/greeter.py", "testdata/plugins/no_health.py")...)
		s.Stdout = full
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		s.ends(t, 1)
		if len(words) == 1 && !strings.Contains(s.errs.String(), "no space left on device") {
			t.Errorf("standard error is %q", &s.errs)
		}
	}
}

// TestCheckReaderLeaves checks that a check whose reader goes away prints no error, and still exits
// with the code of its verdict.
func TestCheckReaderLeaves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words []string
		reads int // number of bytes
		code  int
	}{
		"a failure":          {[]string{"import_raises.py"}, 10, 5},
		"a failure, as JSON": {[]string{"--json", "import_raises.py"}, 0, 5},
		"a failure later":    {[]string{"greeter.py", "import_raises.py"}, 10, 5},
		"none":               {[]string{"greeter.py", "no_health.py"}, 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := []string{"check"}
			if c.code != 0 {
				words = append(words, "-q")
			}
			for _, w := range c.words {
				if strings.HasSuffix(w, ".py") {
					w = filepath.Join("testdata/plugins", w)
				}
				words = append(words, w)
			}
			s := pyplug(t, nil, words...)
			out := s.unread(t)
			if _, err := io.ReadFull(out, make([]byte, c.reads)); err != nil {
				t.Fatal(err)
			}
			out.Close()
			s.ends(t, c.code)
			if s.errs.Len() > 0 {
				t.Errorf("standard error is %q, want nothing: the reader had enough", &s.errs)
			}
		})
	}
}

// unread starts the check with a pipe for its standard output that nobody reads.
func (s *session) unread(t *testing.T) *os.File {
	t.Helper()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	defer in.Close()
	s.Stdout = in
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCheckUnread checks that a check whose reader does not read ends at the second signal or
// earlier.
func TestCheckUnread(t *testing.T) {
	t.Parallel()
	words := []string{"check"}
	for i := range 400 {
		words = append(words, fmt.Sprintf("nosuch%d.py", i))
	}
	s := pyplug(t, nil, words...)
	out := s.unread(t)
	runnertest.Until(t, "the pipe is full", func() bool {
		n, err := unix.IoctlGetInt(int(out.Fd()), unix.TIOCINQ)
		return err != nil || n > 50<<10 // of 64 KiB, so the next report does not fit
	})
	signals := &interrupts{process: s.Process}
	runnertest.Until(t, "it ends", func() bool {
		if signals.sent < 2 {
			signals.again()
		}
		return s.ended()
	})
	s.ends(t, 130)
}

// TestCheckInterruptProtoset checks that reading descriptors can be interrupted, even while nobody
// writes them.
func TestCheckInterruptProtoset(t *testing.T) {
	t.Parallel()
	dir := written(t, map[string]string{"plugin.py": "import grpc\n" + spoken})
	if err := makeFake(dir); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	s := pyplug(t, []string{"PYPLUG_PYTHON="}, "check", "--transport", "grpc", "--protoset", fifo, filepath.Join(dir, "plugin.py"))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	waits := 0 // how often it was waiting for a writer
	runnertest.Until(t, "it opens the pipe", func() bool {
		if waits++; !s.opens() {
			waits = 0
		}
		return waits == 20
	})
	if err := s.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "it ends", s.ended)
	s.ends(t, 130)
}

// opens reports whether a thread of the process is opening a file.
func (s *session) opens() bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", s.Process.Pid)) // the pattern is valid
	for _, thread := range threads {
		call, err := os.ReadFile(thread)
		if err == nil && strings.HasPrefix(string(call), fmt.Sprint(syscall.SYS_OPENAT, " ")) {
			return true
		}
	}
	return false
}
