//go:build linux

package commands_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// recordSource is a plugin that only computes.
const recordSource = `
import time
def call(n):
    if n % 97 == 0: time.sleep(0.002)
    return [n, "x" * (n % 300)]
def items(n):
    for i in range(n % 4): yield [n, i]
`

// TestRecordKilled kills pyplug, a worker or both at random moments, and continues from the record,
// 6 times, or 100 times with PYPLUG_TEST_LONG=1. After that, the output must equal that of one
// uninterrupted run, and no answer may have been printed before it was in the record.
func TestRecordKilled(t *testing.T) {
	moments, total := 6, 1200
	if os.Getenv("PYPLUG_TEST_LONG") != "" {
		moments, total = 100, 10_000
	}
	dir := t.TempDir()
	plugin, record, input := filepath.Join(dir, "kill.py"), filepath.Join(dir, "record"), filepath.Join(dir, "in")
	in, want := recordLines(total)
	for name, text := range map[string]string{plugin: recordSource, input: in} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start := func() (*session, *bufio.Reader) {
		s := pyplug(t, nil, "run", "--lines", "--record", record, "--no-fail", "--workers", fmt.Sprint(1+rand.IntN(2)), plugin)
		lines, err := os.Open(input)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lines.Close() })
		s.Stdin = lines
		return s, bufio.NewReader(reading(t, s.Cmd))
	}
	answered := int64(0) // minimum number of bytes of the output so far
	for i := range moments {
		s, out := start()
		var printed strings.Builder
		n, _ := io.CopyN(&printed, out, answered+rand.Int64N(1+2*(int64(len(want))-answered)/int64(moments-i)))
		answered = max(answered, n-10_000) // if a worker is killed, an error is longer than the answer
		s.killSome(i%3 != 1, i%3 != 0)
		_, _ = io.Copy(&printed, out)
		_ = s.Wait()
		text, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		seen := strings.Count(printed.String(), `,"result":`) + strings.Count(printed.String(), `,"done":true}`)
		kept := strings.Count(string(text), `,"result":`) + strings.Count(string(text), `,"items":`)
		if seen > kept {
			t.Fatalf("%d answers were printed, and the record has %d", seen, kept)
		}
	}
	s, out := start()
	got, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	s.ends(t, 0)
	sameLines(t, string(got), want)
	if !strings.Contains(s.errs.String(), " answers came from ") {
		t.Errorf("nothing came from the record: %s", &s.errs)
	}
}

// killSome kills pyplug, or its child processes, or both.
func (s *session) killSome(itself, others bool) {
	for _, pid := range append(runnertest.WithEnv(s.tag), s.Process.Pid) {
		if pid == s.Process.Pid && itself || pid != s.Process.Pid && others {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// recordLines returns lines for recordSource, of which a tenth occurs twice, and the answers.
func recordLines(total int) (in, want string) {
	var lines, answers strings.Builder
	for i := range total {
		n := i % (total - total/10)
		if n%5 != 0 {
			fmt.Fprintf(&lines, `{"hook": "call", "args": [%d]}`+"\n", n)
			fmt.Fprintf(&answers, `{"id":%d,"result":[%d,"%s"]}`+"\n", i+1, n, strings.Repeat("x", n%300))
			continue
		}
		fmt.Fprintf(&lines, `{"hook": "items", "args": [%d]}`+"\n", n)
		for item := range n % 4 {
			fmt.Fprintf(&answers, `{"id":%d,"item":[%d,%d]}`+"\n", i+1, n, item)
		}
		fmt.Fprintf(&answers, `{"id":%d,"done":true}`+"\n", i+1)
	}
	return lines.String(), answers.String()
}

// sameLines compares two texts by lines.
func sameLines(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("line %d is %s, want %s", i+1, a[i], b[i])
		}
	}
	t.Errorf("got %d lines, want %d", len(a), len(b))
}

// TestRecordInUse checks that only one pyplug at a time can use a record.
func TestRecordInUse(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	l := linesOf(t, "--record", record, "testdata/plugins/counter.py", "increment")
	l.says(t, "[]")
	l.hears(t, `{"id":1,"result":1}`)
	other := pyplug(t, nil, "run", "--lines", "--record", record, "testdata/plugins/counter.py", "increment")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	other.ends(t, 9)
	if want := fmt.Sprintf("error: unavailable: record: %s is in use by another process\n", record); !strings.HasPrefix(other.errs.String(), want) {
		t.Errorf("standard error is %q, want %q", &other.errs, want)
	}
	_ = l.in.Close()
	l.silent(t)
	l.ends(t, 0)
}

// TestRecordPipe checks that a record that is not a file is rejected without opening it.
func TestRecordPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{pipe: pipe + " is not a regular file", "/dev/null": "/dev/null is not a regular file"} {
		s := pyplug(t, nil, "run", "--lines", "--record", file, "testdata/plugins/counter.py")
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		s.ends(t, 2)
		if !strings.Contains(s.errs.String(), "error: usage: record: "+want) {
			t.Errorf("standard error is %q", &s.errs)
		}
	}
}
