package service

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// withEvents returns a service whose events go to write, and its warnings. The events are
// written once end has returned.
func withEvents(write func(name string, e hook.Event) error) (s *Service, warnings *[]string, end func()) {
	warnings = new([]string)
	var mu sync.Mutex
	s = New(Options{}, Host{Event: write, Warn: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		*warnings = append(*warnings, err.Error())
	}})
	s.name = "greeter"
	s.startReports()
	return s, warnings, s.endReports
}

// Events are written in order, under the plugin's name.
func TestEvents(t *testing.T) {
	var got []int
	s, warnings, end := withEvents(func(name string, e hook.Event) error {
		if name != "greeter" {
			t.Errorf("it is called %s", name)
		}
		got = append(got, e.Generation)
		return nil
	})
	for n := range 3 {
		s.event(hook.Event{Generation: n, To: hook.StateReady})
	}
	if end(); !slices.Equal(got, []int{0, 1, 2}) || len(*warnings) > 0 {
		t.Errorf("got %v, %q", got, *warnings)
	}
}

// A blocked writer does not block the plugin. Its failure is reported once.
func TestEventsNobodyReads(t *testing.T) {
	release, writes := make(chan struct{}), 0
	s, warnings, end := withEvents(func(string, hook.Event) error {
		<-release
		writes++
		return errors.New("no space left")
	})
	for range 2 * maxBacklog {
		s.event(hook.Event{To: hook.StateReady})
	}
	close(release)
	end()
	if writes != 1 {
		t.Errorf("written %d times after an error", writes)
	}
	for _, want := range []string{"no space left: no more events are written", " events were not reported: writing them took too long"} {
		if all := strings.Join(*warnings, "\n"); strings.Count(all, want) != 1 {
			t.Errorf("said %q, want %q once", all, want)
		}
	}
}
