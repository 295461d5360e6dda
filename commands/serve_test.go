package commands

import (
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// A worker that is healthy again is not taken for one that was started from the files
// which a start that failed was looking at.
func TestHealthyAgainIsNoStart(t *testing.T) {
	f := &program{plugin: &plugin{events: newBacklog()}}
	defer f.plugin.endEvents()
	s := &service{f: f, o: startOptions{detached: true}, starts: make(chan hook.State, 8)}
	for _, e := range []hook.Event{
		{Generation: 1, To: hook.StateStarting},
		{Generation: 1, From: hook.StateStarting, To: hook.StateReady},
		{Generation: 2, To: hook.StateStarting},
		{Generation: 2, From: hook.StateStarting, To: hook.StateFailed},
		{Generation: 1, From: hook.StateReady, To: hook.StateDegraded},
		{Generation: 1, From: hook.StateDegraded, To: hook.StateReady},
	} {
		s.event(e)
	}
	close(s.starts)
	var got []hook.State
	for state := range s.starts {
		got = append(got, state)
	}
	if len(got) != 2 || got[0] != hook.StateReady || got[1] != hook.StateStarting {
		t.Errorf("got %v, want the first start and the second", got)
	}
}
