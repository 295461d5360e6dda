//go:build linux

package commands_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// waits is a plugin whose hook makes one file and waits for another.
const waits = `"""Waits for a file."""
import os
import time


def wait(begun, release):
    open(begun, "w").close()
    while not os.path.exists(release):
        time.sleep(0.01)
`

// TestCasesSignals checks that a signal ends a run after the cases in progress, with a report, and
// that a second signal also ends those cases.
func TestCasesSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signals []syscall.Signal
		code    int
		want    string // the last line
	}{
		"interrupt": {[]syscall.Signal{syscall.SIGINT}, 130, "incomplete: 1 passed, 3 not run in "},
		"terminate": {[]syscall.Signal{syscall.SIGTERM}, 143, "incomplete: 1 passed, 3 not run in "},
		"twice":     {[]syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, 130, "incomplete: 4 not run in "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plugin, file := filepath.Join(dir, "waits.py"), filepath.Join(dir, "a.jsonl")
			release := filepath.Join(dir, "release")
			s := pyplug(t, nil, "test", "--junit", filepath.Join(dir, "report.xml"), plugin, file, file)
			line := fmt.Sprintf("{\"hook\": \"wait\", \"args\": [%q, %q]}\n", s.marker, release)
			for path, text := range map[string]string{plugin: waits, file: line + line} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s.Stderr = nil
			pipe, err := s.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			s.start(t)
			errs := bufio.NewReader(pipe)
			for i, signal := range c.signals {
				if err := s.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				if i > 0 {
					continue
				}
				if line, err := errs.ReadString('\n'); !strings.HasSuffix(line, ": the cases in progress finish; a second signal cancels them\n") {
					t.Fatalf("got %q, %v", line, err)
				}
			}
			if len(c.signals) == 1 {
				if err := os.WriteFile(release, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s.ends(t, c.code)
			if lines := strings.Split(s.out.String(), "\n"); !strings.HasPrefix(lines[max(0, len(lines)-2)], c.want) {
				t.Errorf("the report is\n%s\nwant %s", &s.out, c.want)
			}
			report, err := os.ReadFile(filepath.Join(dir, "report.xml"))
			if err != nil || !strings.Contains(string(report), `<testsuites tests="4"`) {
				t.Errorf("%v, the report is %s", err, report)
			}
		})
	}
}

// TestCasesKilled checks that kill -9 of a run of cases leaves no process and no file except the
// report, which is empty, and does not change the cases.
func TestCasesKilled(t *testing.T) {
	t.Parallel()
	dir, temp := t.TempDir(), t.TempDir()
	plugin, file := filepath.Join(dir, "waits.py"), filepath.Join(dir, "a.jsonl")
	s := pyplug(t, []string{"TMPDIR=" + temp}, "test", "--update", "--isolate", "case", "-j", "2", "--junit", filepath.Join(dir, "report.xml"), plugin, file, file)
	source := waits + `

def child():
    import subprocess
    subprocess.Popen(["sleep", "600"], start_new_session=True)
`
	cases := fmt.Sprintf("{\"hook\": \"child\", \"result\": 1}\n{\"hook\": \"wait\", \"args\": [%q, %q]}\n", s.marker, filepath.Join(dir, "never"))
	for path, text := range map[string]string{plugin: source, file: cases} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.start(t)
	if err := s.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait() // it was killed
	runnertest.Until(t, "nothing is left", func() bool { return len(runnertest.WithEnv(s.tag)) == 0 })
	if text, err := os.ReadFile(file); err != nil || string(text) != cases {
		t.Errorf("%v, the cases are now\n%s", err, text)
	}
	runnertest.Until(t, "its files are gone", func() bool { return len(entries(temp)) == 0 })
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Errorf("%v, next to the plugin, the cases and the report are %v", err, left)
	}
}
