//go:build linux

package main_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// A check that is ended tells what it has seen so far, and leaves nothing.
func TestCheckSignals(t *testing.T) {
	for name, c := range map[string]struct {
		signal syscall.Signal
		code   int
		words  []string
		out    []string
		err    string
	}{
		"interrupt": {syscall.SIGINT, 130, []string{"hang_import.py"},
			[]string{"  ok       source ", "  skipped  launch       it was cut short", "ended early: interrupted (exit 130)"}, "error: canceled: interrupted"},
		"terminate": {syscall.SIGTERM, 143, []string{"hang_import.py"}, []string{"ended early: terminated (exit 143)"}, "error: canceled: terminated"},
		"hang up":   {syscall.SIGHUP, 129, []string{"hang_import.py"}, []string{"ended early: "}, "error: canceled: "},
		"in a call": {syscall.SIGINT, 130, []string{"--call", "hang marker=MARKER", "hang_swallow.py"},
			[]string{"  ok       launch ", "ended early: interrupted (exit 130)"}, "error: canceled: interrupted"},
		"of several": {syscall.SIGINT, 130, []string{"-j", "2", "hang_import.py", "hang_sleep.py", "greeter.py"},
			[]string{"ended early: interrupted (exit 130)"}, "error: canceled: interrupted"},
		"JSON": {syscall.SIGINT, 130, []string{"--json", "hang_import.py"},
			[]string{`"verdict":"failure","exit_code":130,`, `{"name":"source","status":"ok",`, `"error":{"kind":"canceled","message":"interrupted"`}, ""},
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
			s := pyplug(t, []string{"HANG_IMPORT_MARKER=MARKER", "GITHUB_ACTIONS=", "TMPDIR=" + leftEmpty(t)}, words...)
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

func TestCheckStandardOutput(t *testing.T) {
	t.Run("full", func(t *testing.T) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		defer full.Close()
		for _, words := range [][]string{{"check"}, {"check", "--json"}} {
			s := pyplug(t, []string{"GITHUB_ACTIONS="}, append(words, "testdata/plugins/greeter.py", "testdata/plugins/no_health.py")...)
			s.Stdout = full
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			s.ends(t, 1)
			if len(words) == 1 && !strings.Contains(s.errs.String(), "no space left on device") {
				t.Errorf("standard error is %q", &s.errs)
			}
		}
	})
	t.Run("closed", func(t *testing.T) {
		s := pyplug(t, []string{"HANG_IMPORT_MARKER=MARKER", "GITHUB_ACTIONS="},
			"check", "testdata/plugins/greeter.py", "testdata/plugins/hang_import.py")
		s.Stdout = nil
		out, err := s.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReaderSize(out, 16).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		out.Close()
		s.ends(t, 0) // at once: what is left is not looked at
		if s.errs.Len() > 0 {
			t.Errorf("standard error is %q, want nothing: the reader had enough", &s.errs)
		}
	})
}

// A plugin that ends by itself between two stages is found out.
func TestCheckEndedIdle(t *testing.T) {
	runnertest.NothingLeft(t)
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	var s *runner.Session
	report, err := check.Run(t.Context(), context.Background(), check.Options{
		Config: runner.Config{
			Plugin: "testdata/plugins/counter.py", Python: runnertest.Python(t), Environ: os.Environ(), Cwd: cwd,
		},
		Prepared: func(prepared *runner.Session) error { s = prepared; return nil },
		Ended: func(st hook.Stage) {
			if st.Name != "health" {
				return
			}
			if err := syscall.Kill(s.Info().PID, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			runnertest.Until(t, "it is gone", func() bool { return !s.Running() })
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	f := report.FirstFailure()
	if f == nil || f.ID != "hooks-unknown" || f.Kind != hook.Crash || f.Err.Exit == nil || f.Err.Exit.Signal != "SIGKILL" {
		t.Errorf("got %+v of %+v", f, report.Stages)
	}
}
