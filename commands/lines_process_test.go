//go:build linux

package commands_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// lines is a pyplug that answers lines, with both ends of its streams.
type lines struct {
	*session
	in   io.WriteCloser
	out  *bufio.Reader
	pipe io.Closer // the reading end of out
}

// linesOf starts a pyplug that answers lines.
func linesOf(t *testing.T, words ...string) *lines {
	t.Helper()
	s := pyplug(t, nil, append([]string{"run", "--lines"}, words...)...)
	in, out := talking(t, s.Cmd)
	return &lines{session: s, in: in, out: bufio.NewReaderSize(out, 4096), pipe: out}
}

// says writes a line.
func (l *lines) says(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(l.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// hears reads an answer that begins with want.
func (l *lines) hears(t *testing.T, want string) string {
	t.Helper()
	line, err := l.out.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, want) {
		t.Fatalf("got %q, %v; want %q", line, err, want)
	}
	return line
}

// silent checks that there is no more output.
func (l *lines) silent(t *testing.T) {
	t.Helper()
	if rest, err := io.ReadAll(l.out); len(rest) > 0 || err != nil {
		t.Errorf("then came %q, %v", rest, err)
	}
}

// TestLinesAlive checks that answers come while the input continues, from one process.
func TestLinesAlive(t *testing.T) {
	t.Parallel()
	l := linesOf(t, "testdata/plugins/counter.py")
	l.says(t, `{"id": "a", "hook": "increment"}`)
	l.hears(t, `{"id":"a","result":1}`)
	l.says(t, `{"id": "b", "hook": "increment"}`)
	l.hears(t, `{"id":"b","result":2}`)
	if err := l.in.Close(); err != nil {
		t.Fatal(err)
	}
	l.silent(t)
	l.ends(t, 0)
	if l.errs.Len() > 0 {
		t.Errorf("standard error is %q", &l.errs)
	}
}

// TestLinesSignals checks that a signal ends the reading but not the calls, and that a second
// signal ends the calls, which are still answered.
func TestLinesSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal syscall.Signal
		code   int
		note   string
	}{
		"interrupt": {syscall.SIGINT, 130, "note: interrupted; lines 1 to 1 are answered; use --record FILE to go on from there next time\n"},
		"terminate": {syscall.SIGTERM, 143, "note: terminated; lines 1 to 1 are answered; use --record FILE to go on from there next time\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			marker := filepath.Join(dir, "marker")
			l := linesOf(t, "testdata/plugins/hang_sleep.py")
			l.says(t, fmt.Sprintf(`{"hook": "hang", "args": {"marker": %q, "seconds": 3}}`, marker))
			l.says(t, `{"hook": "pid"}`)
			runnertest.Until(t, "the call runs", runnertest.Exists(marker))
			if err := l.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			l.hears(t, `{"id":1,"result":null}`)
			l.silent(t)
			l.ends(t, c.code)
			if l.errs.String() != c.note {
				t.Errorf("standard error is %q, want %q", &l.errs, c.note)
			}
		})
	}
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		marker := filepath.Join(t.TempDir(), "marker")
		l := linesOf(t, "testdata/plugins/hang_sleep.py")
		l.says(t, fmt.Sprintf(`{"hook": "hang", "args": [%q]}`, marker))
		runnertest.Until(t, "the call runs", runnertest.Exists(marker))
		heard := make(chan string)
		go func() { // ends with the answer
			line, _ := l.out.ReadString('\n')
			heard <- line
		}()
		signals, line := &interrupts{process: l.Process}, ""
		runnertest.Until(t, "the call is answered", func() bool {
			if signals.sent < 2 { // the third would end pyplug
				signals.again()
			}
			select {
			case line = <-heard:
				return true
			default:
				return false
			}
		})
		if !strings.HasPrefix(line, `{"id":1,"error":{"kind":"canceled","message":"interrupted"`) {
			t.Errorf("got %q", line)
		}
		l.silent(t)
		l.ends(t, 130)
	})
	t.Run("while it reads", func(t *testing.T) {
		t.Parallel()
		l := linesOf(t, "testdata/plugins/counter.py")
		l.says(t, `{"hook": "increment"}`)
		l.hears(t, `{"id":1,"result":1}`)
		if err := l.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		l.silent(t)
		l.ends(t, 143)
	})
}

// TestLinesReaderGone checks that pyplug ends quietly when the reader of the answers has gone away.
func TestLinesReaderGone(t *testing.T) {
	t.Parallel()
	l := linesOf(t, "testdata/plugins/counter.py", "increment")
	go func() { // ends with pyplug
		for {
			if _, err := io.WriteString(l.in, "[]\n"); err != nil {
				return
			}
		}
	}()
	l.hears(t, `{"id":1,"result":1}`)
	if err := l.pipe.Close(); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "it ends", l.ended)
	l.ends(t, 0)
	if l.errs.Len() > 0 {
		t.Errorf("standard error is %q, want nothing: the reader had enough", &l.errs)
	}
}

// TestLinesHead checks that pyplug ends quietly after `head` has read enough answers.
func TestLinesHead(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "pyplug")
	if err := os.Symlink(program(t), bin); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `yes '[1]' | "$PYPLUG" run --lines testdata/plugins/values.py echo | head -n 3`)
	cmd.Env = append(os.Environ(), "PYPLUG="+bin, "PYPLUG_PYTHON="+runnertest.Python(t))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Errorf("%v, standard error %q", err, &errs)
	}
	if want := "{\"id\":1,\"result\":1}\n{\"id\":2,\"result\":1}\n{\"id\":3,\"result\":1}\n"; string(out) != want {
		t.Errorf("got %q", out)
	}
}

// TestLinesMany answers ten thousand lines in order, with several processes of which some die.
func TestLinesMany(t *testing.T) {
	t.Parallel()
	const n = 10000
	l := linesOf(t, "--workers", "2", "--no-fail", "--preload", "off", "testdata/plugins/counter.py")
	go func() { // ends when everything is written
		w := bufio.NewWriter(l.in)
		for i := range n {
			hook := "increment"
			if i == n/3 || i == n/2 {
				hook = "crash"
			}
			fmt.Fprintf(w, `{"id": %d, "hook": %q}`+"\n", i*10, hook)
		}
		_ = w.Flush() // missing lines are detected later
		_ = l.in.Close()
	}()
	var answer struct {
		ID     int
		Result *int
		Error  *struct{ Kind string }
	}
	crashes := 0
	for i := range n {
		line, err := l.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		answer.Result, answer.Error = nil, nil
		if err := json.Unmarshal(line, &answer); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if answer.ID != i*10 {
			t.Fatalf("answer %d is %s", i, line)
		}
		if answer.Error != nil {
			crashes++
			if answer.Error.Kind != "crash" {
				t.Errorf("got %s", line)
			}
		}
	}
	l.silent(t)
	l.ends(t, 0)
	if crashes != 2 {
		t.Errorf("%d calls crashed, want the two that wanted to", crashes)
	}
}

// worked returns the processes with the processor time that they have used.
func (s *session) worked() string {
	var all []string
	for _, pid := range runnertest.WithEnv(s.tag) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if fields := strings.Fields(string(stat)); err == nil && len(fields) > 14 {
			all = append(all, fields[0], fields[13], fields[14])
		}
	}
	return strings.Join(all, " ")
}

// TestLinesSlowReader checks that a reader that reads nothing costs no memory.
func TestLinesSlowReader(t *testing.T) {
	t.Parallel()
	const n, size = 200, 1 << 20
	l := linesOf(t, "testdata/plugins/values.py", "text")
	l.says(t, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("[%d]\n", size), n), "\n"))
	same, last := 0, ""
	runnertest.Until(t, "all that can be done without a reader is done", func() bool {
		switch now := l.worked(); {
		case len(runnertest.WithEnv(l.tag)) < 2 || now != last:
			same, last = 0, now
		default:
			same++
		}
		return same > 20
	})
	for i := range n {
		if line, err := l.out.ReadString('\n'); err != nil || len(line) < size {
			t.Fatalf("answer %d has %d bytes, %v; want %d", i, len(line), err, size)
		}
	}
	peak := l.peak(t)
	if err := l.in.Close(); err != nil {
		t.Fatal(err)
	}
	l.silent(t)
	l.ends(t, 0)
	t.Logf("pyplug had %d MB resident", peak>>10)
	if peak > n*size>>10 {
		t.Errorf("pyplug had %d KB resident, want less than the answers have", peak)
	}
}

// peak returns the maximum resident memory of the process in KB. The value of wait includes the
// memory of its parent from before exec.
func (s *session) peak(t *testing.T) (kb int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatal(err)
	}
	return kb
}
