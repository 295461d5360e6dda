package commands

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// The file of --events is appended to. It must not be a directory.
func TestOpenEvents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	for range 2 {
		to, err := openOutput(t.Context(), "--events", file, os.O_APPEND, 0o600)
		if err == nil {
			_, err = to.Write([]byte("{}\n"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); string(text) != "{}\n{}\n" {
		t.Errorf("got %s, %v", text, err)
	}
	if _, err := openOutput(t.Context(), "--events", t.TempDir(), os.O_APPEND, 0o600); err == nil || hook.AsError(err).Kind != hook.Usage {
		t.Errorf("a directory: %v", err)
	}
}
