//go:build linux

package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inputPlugin makes a plugin of the fake that creates its marker when it is ready, and returns the
// words of a pyplug that calls it. Hang has a client stream, Echo does not.
func inputPlugin(t *testing.T) (words []string) {
	t.Helper()
	dir := t.TempDir()
	set, plugin := filepath.Join(dir, "fake.pb"), filepath.Join(dir, "plugin", "plugin.py")
	if err := os.Mkdir(filepath.Dir(plugin), 0o700); err != nil {
		t.Fatal(err)
	}
	script := "import grpc\nserve(\"SERVING\")\nmark()\nprint(\"1|1|tcp|$ADDRESS|grpc\")\nhang()"
	if err := os.WriteFile(plugin, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := makeProtoset(set, `syntax = "proto3"; message Text { string text = 1; }
service Fake { rpc Hang(stream Text) returns (Text); rpc Echo(Text) returns (Text); }`); err != nil {
		t.Fatal(err)
	}
	if err := makeFake(filepath.Dir(plugin)); err != nil {
		t.Fatal(err)
	}
	return []string{"run", "--protoset", set, plugin}
}

// TestGRPCInputNeverComes checks the wait for input from a pipe that nobody opens, and from one
// that nobody writes to. The wait ends at the timeout of the call, or at a signal.
func TestGRPCInputNeverComes(t *testing.T) {
	t.Parallel()
	words, fifo := inputPlugin(t), filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	silent, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close(); w.Close() })
	start := func(t *testing.T, flags ...string) *session {
		s := pyplug(t, []string{"PYPLUG_PYTHON=", "MARKER=MARKER"}, append(words[:len(words):len(words)], flags...)...)
		s.Stdin = silent
		s.start(t)
		return s
	}
	for name, input := range map[string]string{"a pipe": fifo, "standard input": "-"} {
		for hook, says := range map[string]string{"Hang": "timed out after 300ms", "Echo": "no end of "} {
			t.Run(name+" "+hook, func(t *testing.T) {
				t.Parallel()
				s := start(t, "--input", input, hook)
				if err := s.Process.Signal(syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
				s.ends(t, 130)
				s = start(t, "--timeout", "0.3", "--input", input, hook)
				s.ends(t, 124)
				if !strings.Contains(s.errs.String(), "error: "+hook+": "+says) {
					t.Errorf("standard error is %q, want %q in it", &s.errs, says)
				}
			})
		}
	}
}

// TestGRPCInputTooLong checks input with a message whose JSON is too long for --max-message.
func TestGRPCInputTooLong(t *testing.T) {
	t.Parallel()
	words, input := inputPlugin(t), filepath.Join(t.TempDir(), "input")
	text := "{}\n\n{\"text\": \"" + strings.Repeat("x", 200_000) + "\"}\n"
	if err := os.WriteFile(input, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	words = append(words, "--max-message", "1KB", "--input", input, "Hang")
	s := pyplug(t, []string{"PYPLUG_PYTHON="}, words...)
	s.says(t, 4, `^error: Hang: input message 2: \S+/input: message 2: it has more than 71680 bytes; --max-message is 1024\n`)
	if !strings.Contains(s.errs.String(), "hint: raise --max-message to allow larger messages") {
		t.Errorf("no hint in %q", &s.errs)
	}
}
