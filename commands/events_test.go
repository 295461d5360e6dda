package commands

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner/hook"
)

// Events are appended to the file in order, one line each.
func TestEvents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	s, _, errs := ui.Test("")
	f := &program{streams: s}
	for range 2 {
		l, err := f.openEvents(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 3; n++ {
			l.add("greeter", hook.Event{Generation: n, To: hook.StateReady})
		}
		l.close()
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), `"name":"greeter"`) != 6 || strings.Count(string(text), "\n") != 6 || errs.Len() > 0 {
		t.Errorf("got %s, %v, %s", text, err, errs)
	}
	if first, third := strings.Index(string(text), `"generation":1`), strings.Index(string(text), `"generation":3`); first < 0 || third < first {
		t.Errorf("they are out of order:\n%s", text)
	}
	if _, err := f.openEvents(t.Context(), t.TempDir()); err == nil || asError(err).Kind != hook.Usage {
		t.Errorf("a directory: %v", err)
	}
}

// stuck is a writer that blocks until it is released, and then fails.
type stuck struct{ release chan struct{} }

func (w stuck) Write([]byte) (int, error) {
	<-w.release
	return 0, errors.New("no space left")
}

// A blocked writer does not block add. Its failure is reported once.
func TestEventsNobodyReads(t *testing.T) {
	s, _, errs := ui.Test("")
	release := make(chan struct{})
	var out io.Writer = stuck{release}
	s.Out = out
	l, err := (&program{streams: s}).openEvents(t.Context(), "-")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * maxBacklog {
		l.add("greeter", hook.Event{To: hook.StateReady})
	}
	close(release)
	l.close()
	<-l.backlog.done
	l2 := (*eventLog)(nil) // nobody wants any
	l2.add("x", hook.Event{})
	l2.close()
	for _, want := range []string{"no space left: no more events are written", "some events were dropped"} {
		if strings.Count(errs.String(), want) != 1 {
			t.Errorf("said %q, want %q once", errs, want)
		}
	}
}
