//go:build linux

package commands_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"syscall"
	"testing"
)

// served is a `pyplug serve --listen` that a test started.
type served struct {
	*session
	url string
}

// serveTCP starts a plugin that accepts calls over TCP, and stops it when the test ends.
func serveTCP(t *testing.T, env []string, words ...string) *served {
	t.Helper()
	s := &served{session: pyplug(t, append(env, "PYPLUG_RUN_DIR="+runDir(t)), append([]string{"serve"}, words...)...)}
	// Some programs call it for longer than [longest] on a busy machine. The test ends it.
	s.Cmd = &exec.Cmd{Path: s.Path, Args: s.Args, Env: s.Env, Stderr: &s.errs}
	t.Cleanup(func() {
		if s.ProcessState == nil {
			s.stop(t)
		}
	})
	s.url = readyLine(t, s.Cmd)
	return s
}

// readyLine starts a serve, and returns the URL in the line that it prints once it is ready.
func readyLine(t *testing.T, cmd *exec.Cmd) (url string) {
	t.Helper()
	out := bufio.NewReader(reading(t, cmd))
	line, err := out.ReadBytes('\n')
	var ready struct{ URLs []string }
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err != nil || len(ready.URLs) == 0 {
		t.Fatalf("%v, serve prints %q", err, line)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // a line each time the plugin is ready; ends with serve
	return ready.URLs[0]
}

// stop stops it as service managers do.
func (s *served) stop(t *testing.T) {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.ends(t, 0)
}
