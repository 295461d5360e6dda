package service

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// reporter records transitions and warnings.
type reporter struct {
	report   func(text string)
	warnings *[]string
}

func (r reporter) Warn(err error)                       { *r.warnings = append(*r.warnings, err.Error()) }
func (r reporter) Log(_, text string)                   { r.report(text) }
func (r reporter) Attach(context.Context, string) error { return nil }

// withReports returns a service whose transitions are passed to report, and its warnings. After the
// function end has returned, every transition was reported or counted in a warning.
func withReports(report func(text string)) (s *Service, warnings *[]string, end func()) {
	warnings = new([]string)
	s = New(Options{}, reporter{report, warnings})
	s.startReports()
	return s, warnings, s.endReports
}

// TestReports checks that transitions are reported in order.
func TestReports(t *testing.T) {
	var got []string
	s, warnings, end := withReports(func(text string) { got = append(got, text) })
	for n := range 3 {
		s.event(hook.Event{Generation: n + 2, To: hook.StateReady, Reason: fmt.Sprint(n)})
	}
	if end(); !slices.Equal(got, []string{"ready: 0", "ready: 1", "ready: 2"}) || len(*warnings) > 0 {
		t.Errorf("got %q, %q", got, *warnings)
	}
}

// TestReportsNobodyReads checks that a blocked reader does not block the plugin, and that one
// warning counts the transitions that it misses.
func TestReportsNobodyReads(t *testing.T) {
	release := make(chan struct{})
	s, warnings, end := withReports(func(string) { <-release })
	for range 2 * maxBacklog {
		s.event(hook.Event{Generation: 2, To: hook.StateReady})
	}
	close(release)
	end()
	want := " events were not reported: writing them took too long"
	if all := strings.Join(*warnings, "\n"); strings.Count(all, want) != 1 {
		t.Errorf("said %q, want %q once", all, want)
	}
}
