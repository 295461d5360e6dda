package hook

import (
	"fmt"
	"time"
)

// State is where a plugin that is kept alive stands. The zero State is none:
// before its first start.
type State uint8

// The states. Why one was entered is the [Event]'s reason, and never a state.
const (
	_             State = iota
	StateStarting       // its process is started, and makes its bootstrap calls
	StateReady          // takes calls
	StateDegraded       // takes calls, and says that it is not healthy
	StateBackoff        // ended, and is started again after a delay
	StateStopping       // is being stopped
	StateStopped        // is not running, and nothing is wrong
	StateFailed         // is not running, and is not started again by itself
)

var stateNames = [...]string{
	StateStarting: "starting", StateReady: "ready", StateDegraded: "degraded", StateBackoff: "backoff",
	StateStopping: "stopping", StateStopped: "stopped", StateFailed: "failed",
}

// String is the state's name in messages and in JSON, such as "ready"; empty for
// the zero State.
func (s State) String() string {
	if int(s) >= len(stateNames) {
		return fmt.Sprintf("state(%d)", uint8(s))
	}
	return stateNames[s]
}

// Takes tells whether a plugin in this state takes calls.
func (s State) Takes() bool { return s == StateReady || s == StateDegraded }

// Event tells one transition of a plugin that is kept alive.
//
// While a replacement starts, and while the instance that it replaced ends,
// there are two generations and the events of both come in between each other.
// Those of a replacement begin with the zero From.
type Event struct {
	Time time.Time
	// Worker says which of several workers it is about, from 1; 0 where there
	// is but one.
	Worker int
	// Generation counts the starts, from 1, of each worker apart; the event is
	// about this one.
	Generation int
	// PID is its process; 0 before it is ready.
	PID      int
	From, To State
	// Reason says why, in one line, such as "the plugin ended during a call".
	Reason string
	// Exit is how a process ended, nil where none did. On a transition to
	// starting it is that of the generation before.
	Exit *Exit
	// Delay is how long it is until the next start, on a transition to backoff.
	Delay time.Duration
}
