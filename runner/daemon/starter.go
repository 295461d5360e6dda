package daemon

import (
	"encoding/json"
	"os"
	"sync"

	"github.com/pyplug/pyplug/runner/hook"
)

// starterPipe is the descriptor of the pipe on which a daemon that [Spawn] started
// reports.
const starterPipe = 3

// Starter is the process that started this daemon and waits for it. A nil Starter is
// nobody: its methods do nothing. It is safe for concurrent use.
type Starter struct {
	mu   sync.Mutex
	pipe *os.File
}

// progress is one line on the pipe. One field is set.
type progress struct {
	Note   string      `json:"note,omitempty"`
	Ready  *Identity   `json:"ready,omitempty"`
	Failed *hook.Error `json:"failed,omitempty"`
}

// OpenStarter returns the process that started this one by [Spawn], or nil if the
// descriptor of the pipe is no pipe. It is called once, before descriptors are opened.
func OpenStarter() *Starter {
	if !inheritedPipe(starterPipe) {
		return nil
	}
	return &Starter{pipe: os.NewFile(starterPipe, "starter")}
}

// Note reports something that the user should know, such as a warning.
func (s *Starter) Note(text string) { s.send(progress{Note: text}, false) }

// Fail reports why there is no daemon. If the reason is [Taken] or [AlreadyRuns],
// Spawn waits for the process that has the name.
func (s *Starter) Fail(e *hook.Error) { s.failed(complete(e, "")) }

func (s *Starter) failed(e *hook.Error) { s.send(progress{Failed: e}, true) }
func (s *Starter) ready(id Identity)    { s.send(progress{Ready: &id}, true) }

// send writes one line. It ignores that the starter is gone.
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
