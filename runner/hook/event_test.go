package hook

import "testing"

func TestStateNames(t *testing.T) {
	for state, want := range map[State]string{
		0: "", StateStarting: "starting", StateReady: "ready", StateDegraded: "degraded", StateBackoff: "backoff",
		StateStopping: "stopping", StateStopped: "stopped", StateFailed: "failed", 99: "state(99)",
	} {
		if got := state.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := state.Takes(); got != (state == StateReady || state == StateDegraded) {
			t.Errorf("%s takes calls: %v", state, got)
		}
	}
}
