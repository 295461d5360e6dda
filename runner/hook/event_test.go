package hook

import "testing"

func TestTakes(t *testing.T) {
	for _, state := range []State{"", StateStopped, StateFailed, StateStopping, StateBackoff, StateStarting, StateDegraded, StateReady} {
		if got := state.Takes(); got != (state == StateReady || state == StateDegraded) {
			t.Errorf("%s takes calls: %v", state, got)
		}
	}
}
