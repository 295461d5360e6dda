package daemon

import (
	"encoding/json"
	"errors"
	"os"
	"sync"

	"github.com/pyplug/pyplug/runner/hook"
)

// starterPipe is the descriptor of the pipe on which a daemon that [Spawn] starts
// tells how the start goes.
const starterPipe = 3

// Starter is who waits for a daemon to be ready: the process that started it. A nil
// Starter is nobody; all its methods do nothing then. It is safe for concurrent
// use, and of no use once it was told that the start succeeded or failed.
type Starter struct {
	mu   sync.Mutex
	pipe *os.File
}

// progress is one line of what a starter is told. One field is set.
type progress struct {
	Note   string     `json:"note,omitempty"`
	Ready  *Identity  `json:"ready,omitempty"`
	Failed *hook.Told `json:"failed,omitempty"`
	// Taken tells that somebody else has the name.
	Taken bool `json:"taken,omitempty"`
}

// OpenStarter is who waits for this process, which was started by [Spawn]; nil when
// the descriptor that Spawn hands over is none, and so nobody waits. It is called
// once, before descriptors are opened.
func OpenStarter() *Starter {
	if !takePipe(starterPipe) {
		return nil
	}
	return &Starter{pipe: os.NewFile(starterPipe, "starter")}
}

// Note tells something that the user should know, such as a warning.
func (s *Starter) Note(text string) { s.send(progress{Note: text}, false) }

// Fail tells why there is no daemon: of a [*TakenError], Spawn then waits for who
// has the name. Hints and context are as in [Options].
func (s *Starter) Fail(err error, hints, context func(error) []string) {
	var taken *TakenError
	told := tellWith(err, hints, context)
	s.send(progress{Failed: &told, Taken: errors.As(err, &taken)}, true)
}

func (s *Starter) failed(told hook.Told) { s.send(progress{Failed: &told}, true) }
func (s *Starter) ready(id Identity)     { s.send(progress{Ready: &id}, true) }

// send writes one line. A starter that is gone is told nothing.
func (s *Starter) send(p progress, last bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pipe == nil {
		return
	}
	if text, err := json.Marshal(p); err == nil {
		_, _ = s.pipe.Write(append(text, '\n'))
	}
	if last {
		_ = s.pipe.Close()
		s.pipe = nil
	}
}
