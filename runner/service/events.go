package service

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// note reports a message to the user, once.
func (s *Service) note(text string) {
	s.logOwn(text)
	s.o.Starter.Note(text)
}

// log adds a line to the log. Before the log exists, it passes lines from pyplug itself to the
// [Reporter], and drops others.
func (s *Service) log(line daemon.Line) {
	if s.server != nil {
		s.server.Log().Add(line)
	} else if line.Stream == daemon.Own {
		s.to.Log(s.name, line.Text)
	}
}

// logOwn adds a line from pyplug itself to the log.
func (s *Service) logOwn(text string) { s.log(daemon.Line{Stream: daemon.Own, Text: text}) }

// Printed adds a line of the plugin's output to the log.
func (s *Service) Printed(stream, text string, cut int) {
	if cut > 0 {
		text += fmt.Sprintf(" … (%d bytes left out)", cut)
	}
	s.log(daemon.Line{Generation: int(s.generation.Load()), Stream: stream, Text: text})
}

// logDetails logs the lines below an error's headline, which is in the log already.
func (s *Service) logDetails(e *hook.Error) {
	for _, line := range e.Details(e.Error(), "") {
		s.logOwn("  " + line)
	}
}

// maxFailures is the number of failed calls per second that the log names. It counts the rest.
const maxFailures = 10

// failures counts the failed calls of the current second.
type failures struct {
	mu    sync.Mutex
	count int
}

// callFailed writes a failed call to the log.
func (s *Service) callFailed(name string, err error) {
	f := &s.failures
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count++; f.count == 1 {
		time.AfterFunc(time.Second, s.endFailures)
	}
	if f.count <= maxFailures {
		e := hook.AsError(err)
		text, _, _ := strings.Cut(e.Error(), "\n")
		s.logOwn(fmt.Sprintf("call %s failed (%s): %s", name, e.Kind, text))
		s.logDetails(e)
	}
}

// endFailures is called a second after the first failed call, and by Close. It logs how many more
// calls failed than the log names.
func (s *Service) endFailures() {
	f := &s.failures
	f.mu.Lock()
	defer f.mu.Unlock()
	if more := f.count - maxFailures; more > 0 {
		s.logOwn(schema.Plural(more, "more call") + " failed")
	}
	f.count = 0
}

const (
	// maxBacklog is the number of transitions that may wait to be reported. Further transitions are
	// dropped and counted.
	maxBacklog = 4096
	// backlogTimeout is how long an ending service waits for the readers of its reports.
	backlogTimeout = 2 * time.Second
)

// startReports reports transitions in order until endReports is called. It uses a separate
// goroutine, because the plugin must not wait for a terminal or a disk.
func (s *Service) startReports() {
	s.transitions = make(chan hook.Event, maxBacklog)
	reported := make(chan struct{})
	go func() { // ends with endReports
		defer close(reported)
		for e := range s.transitions {
			s.report(e)
		}
	}()
	s.endReports = sync.OnceFunc(func() {
		close(s.transitions)
		hook.Within(reported, backlogTimeout) // after that, the process ends without the rest
		if dropped := s.dropped.Load(); dropped > 0 {
			s.to.Warn(fmt.Errorf("%d events were not reported: writing them took too long", dropped))
		}
	})
}

// event receives every transition. It does not block.
func (s *Service) event(e hook.Event) {
	if e.To == hook.StateStarting {
		s.generation.Store(int64(e.Generation))
	}
	select {
	case s.transitions <- e:
	default:
		s.dropped.Add(1)
	}
}

// report writes a transition to the log. In the foreground it also reports the state to the service
// manager.
func (s *Service) report(e hook.Event) {
	s.log(daemon.Line{Time: e.Time, Generation: e.Generation, Stream: daemon.Own, Text: eventText(e)})
	switch {
	case s.o.Detached:
	case s.ready.Load():
		s.notify(s.managerStatus())
	case e.Worker <= 1 && (e.To == hook.StateStarting || e.To == hook.StateFailed): // skip the stop that follows a failure
		s.notify(statusLine(e.To, e.Reason))
	}
}

// eventText returns a transition as one line.
func eventText(e hook.Event) string {
	text := string(e.To) + ": " + e.Reason
	if e.Worker != 0 {
		text = fmt.Sprintf("worker %d %s", e.Worker, text)
	}
	if e.To == hook.StateReady && e.PID != 0 {
		text += fmt.Sprintf(" (pid %d)", e.PID)
	}
	if e.Exit != nil {
		text += " (" + e.Exit.String() + ")"
	}
	if e.Delay > 0 {
		text += ", again in " + schema.Span(time.Duration(e.Delay))
	}
	return text
}
