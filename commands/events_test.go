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
	s, _, _ := testStreams("")
	f := &program{streams: s}
	for range 2 {
		to, err := f.openEvents(t.Context(), file)
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
	if _, err := f.openEvents(t.Context(), t.TempDir()); err == nil || asError(err).Kind != hook.Usage {
		t.Errorf("a directory: %v", err)
	}
}
