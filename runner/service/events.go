package service

import (
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// note reports something to the user, once.
func (s *Service) note(text string) {
	s.log(daemon.Line{Stream: daemon.Own, Text: text})
	s.host.Starter.Note(text)
	s.host.Note(text)
}

// log adds a line to the log, once there is one.
func (s *Service) log(line daemon.Line) {
	if s.server != nil {
		s.server.Log().Add(line)
	}
}

// Printed adds a line that the plugin printed to the log.
func (s *Service) Printed(stream, text string, cut int) {
	if cut > 0 {
		text += fmt.Sprintf(" … (%d bytes left out)", cut)
	}
	s.log(daemon.Line{Generation: int(s.generation.Load()), Stream: stream, Text: text})
}

// event receives every transition. It does not block.
func (s *Service) event(e hook.Event) {
	if e.To == hook.StateStarting {
		s.generation.Store(int64(e.Generation))
	}
	if s.host.Event != nil {
		s.events.add(func() { s.writeEvent(e) })
	}
	s.reports.add(func() {
		text := eventText(e)
		s.log(daemon.Line{Time: e.Time, Generation: e.Generation, Stream: daemon.Own, Text: text})
		if s.host.Transition != nil && notable(e) {
			s.host.Transition(text)
		}
	})
}

// writeEvent passes on an event. After an error it passes on no more: the reader is gone
// or its disk is full, and half a line may be written.
func (s *Service) writeEvent(e hook.Event) {
	if s.eventsBroken {
		return
	}
	if err := s.host.Event(s.name, e); err != nil {
		s.eventsBroken = true
		s.host.Warn(fmt.Errorf("--events: %w: no more events are written", err))
	}
}

// endEvents reports the rest of the transitions. The plugin must be gone.
func (s *Service) endEvents() {
	if lost := s.reports.close(); lost > 0 {
		s.host.Warn(fmt.Errorf("%d events were not reported: the reader was too slow", lost))
	}
	if s.events.close() > 0 {
		s.host.Warn(errors.New("--events: some events were dropped: writing them took too long"))
	}
}

// eventText is a transition in one line.
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

// notable reports whether the user of run --keep should know of a transition: all but
// the first start and the stop.
func notable(e hook.Event) bool {
	switch e.To {
	case hook.StateStopping, hook.StateStopped:
		return false
	case hook.StateStarting, hook.StateReady:
		return e.Generation > 1 || e.From == hook.StateDegraded
	}
	return true
}
