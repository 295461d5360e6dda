//go:build linux

package commands_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// longest is how long a pyplug of a test may run before it is killed.
const longest = 5 * runnertest.WaitTimeout

// session is a pyplug that a test started. All its processes have tag in their environment.
type session struct {
	*exec.Cmd
	tag    string
	out    bytes.Buffer
	errs   bytes.Buffer
	marker string
}

// pyplug prepares the test binary as pyplug. "=MARKER" in the words or env becomes a path that the
// plugin creates when it has reached the required state.
func pyplug(t *testing.T, env []string, words ...string) *session {
	t.Helper()
	python := runnertest.Python(t)
	dir := t.TempDir()
	bin := filepath.Join(dir, "pyplug")
	if err := os.Symlink(program(t), bin); err != nil {
		t.Fatal(err)
	}
	s := &session{tag: "PYPLUG_TEST_TAG=" + filepath.Base(filepath.Dir(dir)) + fmt.Sprint(os.Getpid()), marker: filepath.Join(dir, "marker")}
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "=MARKER", "="+s.marker)
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	t.Cleanup(cancel)
	s.Cmd = exec.CommandContext(ctx, bin, words...)
	s.Stdout, s.Stderr = &s.out, &s.errs
	s.Env = append(os.Environ(), "PYPLUG_PYTHON="+python, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), s.tag)
	for _, e := range env {
		s.Env = append(s.Env, strings.ReplaceAll(e, "=MARKER", "="+s.marker))
	}
	t.Cleanup(func() {
		if left := runnertest.WithEnv(s.tag); len(left) > 0 {
			t.Errorf("processes %v are left", left)
			for _, pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if t.Failed() {
			t.Logf("%q\nout: %s\nerr: %s", s.Args, &s.out, &s.errs)
		}
	})
	return s
}

// start starts it and waits until the plugin has created its marker.
func (s *session) start(t *testing.T) {
	t.Helper()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "the plugin makes its marker", runnertest.Exists(s.marker))
}

// ends waits for the end, and checks the exit code.
func (s *session) ends(t *testing.T, code int) {
	t.Helper()
	err := s.Wait()
	if got := shellCode(s.ProcessState); got != code {
		t.Errorf("exit code %d (%v), want %d", got, err, code)
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal syscall.Signal
		code   int
		words  []string
		want   string
	}{
		"interrupt":          {syscall.SIGINT, 130, []string{"hang_sleep.py", "hang", "marker=MARKER"}, "error: hang: interrupted"},
		"terminate":          {syscall.SIGTERM, 143, []string{"hang_sleep.py", "hang", "marker=MARKER"}, "error: hang: terminated"},
		"hang up":            {syscall.SIGHUP, 129, []string{"hang_lock.py", "hang", "marker=MARKER"}, "error: hang: "},
		"in a C loop":        {syscall.SIGINT, 130, []string{"hang_c_loop.py", "hang", "marker=MARKER"}, "hang_c_loop.py"},
		"swallowed":          {syscall.SIGINT, 130, []string{"hang_swallow.py", "hang", "marker=MARKER"}, "hang_swallow.py"},
		"in a child":         {syscall.SIGINT, 130, []string{"hang_subprocess.py", "hang", "marker=MARKER"}, "error: hang: interrupted"},
		"in a coroutine":     {syscall.SIGINT, 130, []string{"async_hooks.py", "hang", "started=MARKER"}, "error: hang: interrupted"},
		"in a stream":        {syscall.SIGINT, 130, []string{"streams.py", "stuck", "started=MARKER"}, "error: stuck: interrupted"},
		"in an async stream": {syscall.SIGINT, 130, []string{"streams.py", "ahang", "started=MARKER"}, "error: ahang: interrupted"},
		"in the import":      {syscall.SIGINT, 130, []string{"hang_import.py", "never"}, "error: canceled: interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := append([]string{"run", filepath.Join("testdata/plugins", c.words[0])}, c.words[1:]...)
			s := pyplug(t, []string{"HANG_IMPORT_MARKER=MARKER"}, words...)
			s.start(t)
			if err := s.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			s.ends(t, c.code)
			if !strings.Contains(s.errs.String(), c.want) {
				t.Errorf("standard error is %q, want %q in it", &s.errs, c.want)
			}
		})
	}
}

// TestInterruptEndsLoop checks that Ctrl-C ends a loop of a shell, which would continue after a
// program that exits with 130.
func TestInterruptEndsLoop(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	s := pyplug(t, nil, "-c", `for n in 1 2; do "$0" run testdata/plugins/hang_sleep.py hang "marker=$1"; echo after $?; done`)
	s.Args = append([]string{bash}, append(s.Args[1:], s.Path, s.marker)...)
	s.Path, s.SysProcAttr = bash, &syscall.SysProcAttr{Setpgid: true}
	s.start(t)
	if err := syscall.Kill(-s.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.ends(t, 130)
	if s.out.Len() > 0 {
		t.Errorf("the loop goes on: %s", &s.out)
	}
}

// TestInterruptWhileReading checks that reading the arguments can be interrupted.
func TestInterruptWhileReading(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	interruptReading(t, fifo, "run", "--input", fifo, "testdata/plugins/greeter.py", "greet")
}

// interruptReading interrupts a command that reads a new pipe that nobody writes to.
func interruptReading(t *testing.T, fifo string, words ...string) {
	t.Helper()
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	s := pyplug(t, nil, words...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "it is being read", func() bool {
		w, err := os.OpenFile(fifo, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			t.Cleanup(func() { w.Close() })
		}
		return err == nil
	})
	if err := s.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.ends(t, 130)
}

// TestSecondInterrupt checks that the second signal kills a plugin that does not end.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	s := pyplug(t, nil, "run", "--stop-timeout", "1h", "testdata/plugins/hang_atexit.py", "pid")
	out := reading(t, s.Cmd)
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // the result, before the plugin stops
		t.Fatal(err)
	}
	signals := &interrupts{process: s.Process}
	runnertest.Until(t, "it ends", func() bool {
		signals.again()
		return s.ended()
	})
	if signals.sent < 2 {
		t.Errorf("it ended after the first signal")
	}
	s.ends(t, 0)
}

// interrupts are signals to a process, with some time between them, because two pending signals
// count as one.
type interrupts struct {
	process *os.Process
	sent    int
	last    time.Time
}

// again sends the next signal, if it is time for it.
func (i *interrupts) again() {
	if time.Since(i.last) > 500*time.Millisecond {
		i.sent, i.last = i.sent+1, time.Now()
		_ = i.process.Signal(syscall.SIGINT) // it may have ended
	}
}

// ended reports whether the process has ended, without reaping it.
func (s *session) ended() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Process.Pid))
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// TestKilled checks that no process outlives a killed pyplug.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words []string
		env   string
	}{
		"during the import": {[]string{"hang_import.py", "never"}, "HANG_IMPORT_MARKER=MARKER"},
		"during a call":     {[]string{"hang_sleep.py", "hang", "marker=MARKER"}, ""},
		"in a C loop":       {[]string{"hang_c_loop.py", "hang", "marker=MARKER"}, ""},
		"in a lock":         {[]string{"hang_lock.py", "hang", "marker=MARKER"}, ""},
		"swallowing":        {[]string{"hang_swallow.py", "hang", "marker=MARKER"}, ""},
		"with a child":      {[]string{"hang_subprocess.py", "hang", "marker=MARKER"}, ""},
		"ignoring SIGTERM":  {[]string{"ignore_term.py", "hang", "marker=MARKER"}, ""},
		"in a coroutine":    {[]string{"async_hooks.py", "hang", "started=MARKER"}, ""},
		"in a stream":       {[]string{"streams.py", "stuck", "started=MARKER"}, ""},
		"with a daemon":     {[]string{"escape.py", "hang", "marker=MARKER"}, ""},
		"with closed fds":   {[]string{"escape.py", "close_and_hang", "marker=MARKER"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := append([]string{"run", filepath.Join("testdata/plugins", c.words[0])}, c.words[1:]...)
			s := pyplug(t, []string{c.env}, words...)
			s.start(t)
			if n := len(runnertest.WithEnv(s.tag)); n < 2 {
				t.Fatalf("%d processes carry the tag, want pyplug and its plugin", n)
			}
			if err := s.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			took := runnertest.Until(t, "all processes are gone", func() bool { return len(runnertest.WithEnv(s.tag)) == 0 })
			t.Logf("gone after %v", took)
			_ = s.Wait() // it was killed
		})
	}
}

func TestStandardOutput(t *testing.T) {
	t.Parallel()
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		defer full.Close()
		s := pyplug(t, nil, "run", "testdata/plugins/greeter.py", "greet", "World")
		s.Stdout = full
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		s.ends(t, 1)
		if !strings.Contains(s.errs.String(), "no space left on device") {
			t.Errorf("standard error is %q", &s.errs)
		}
	})
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		s := pyplug(t, nil, "run", "testdata/plugins/streams.py", "endless")
		out := reading(t, s.Cmd)
		if _, err := io.ReadFull(out, make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		out.Close()
		s.ends(t, 0)
		if s.errs.Len() > 0 {
			t.Errorf("standard error is %q, want nothing: the reader had enough", &s.errs)
		}
	})
	t.Run("slow", func(t *testing.T) {
		t.Parallel()
		s := pyplug(t, nil, "run", "testdata/plugins/streams.py", "large", "20", "1048576")
		out := reading(t, s.Cmd)
		total, chunk := 0, make([]byte, 4096)
		for {
			n, err := out.Read(chunk)
			total += n
			if err != nil {
				break
			}
		}
		s.ends(t, 0)
		if want := 20 * (1<<20 + 3); total < 20<<20 || total > want {
			t.Errorf("%d bytes came, want about %d", total, want)
		}
		if usage, ok := s.ProcessState.SysUsage().(*syscall.Rusage); ok {
			t.Logf("pyplug had %d MB resident", usage.Maxrss>>10)
		}
	})
	t.Run("slow, and the plugin dies after it has answered", func(t *testing.T) {
		t.Parallel()
		s := pyplug(t, nil, "run", "testdata/plugins/streams.py", "late", "started=MARKER")
		out := reading(t, s.Cmd)
		runnertest.Until(t, "the plugin runs", runnertest.Exists(s.marker))
		runnertest.Until(t, "the plugin is gone", func() bool { return len(runnertest.WithEnv(s.tag)) < 2 })
		text, err := io.ReadAll(out)
		if lines := bytes.Count(text, []byte("\n")); err != nil || lines != 2 {
			t.Errorf("%d lines came, %v; want both items", lines, err)
		}
		s.ends(t, 0)
	})
	t.Run("not read, out of time", func(t *testing.T) {
		t.Parallel()
		s := pyplug(t, nil, "run", "--timeout", "0.5", "testdata/plugins/streams.py", "endless")
		out := reading(t, s.Cmd)
		defer out.Close()
		runnertest.Until(t, "it ends though nobody reads", s.ended)
		s.ends(t, 124)
		if !strings.Contains(s.errs.String(), "error: endless: timed out after 500ms") {
			t.Errorf("standard error is %q", &s.errs)
		}
	})
	t.Run("not read, then terminated", func(t *testing.T) {
		t.Parallel()
		s := pyplug(t, nil, "run", "testdata/plugins/streams.py", "endless", "step=MARKER")
		s.Stdout = nil
		out, err := s.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		s.start(t)
		if err := s.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		// Wait closes the pipe, so wait for the end first.
		runnertest.Until(t, "it ends though nobody reads", s.ended)
		s.ends(t, 143)
	})
}
