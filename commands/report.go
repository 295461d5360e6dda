package commands

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// note reports something to the user, once.
func (s *service) note(text string) {
	s.log(daemon.Line{Stream: daemon.Own, Text: text})
	s.starter.Note(text)
	s.f.streams.Note(s.f.plugin.path + ": " + text)
}

// log adds a line to the log, once there is one.
func (s *service) log(line daemon.Line) {
	if s.server != nil {
		s.server.Log().Add(line)
	}
}

// printed adds a line that the plugin printed to the log.
func (s *service) printed(stream, text string, cut int) {
	if cut > 0 {
		text += fmt.Sprintf(" … (%d bytes left out)", cut)
	}
	s.log(daemon.Line{Generation: int(s.generation.Load()), Stream: stream, Text: text})
}

// event receives every transition. It must not block.
func (s *service) event(e hook.Event) {
	s.events.add(s.name, e)
	if e.To == hook.StateStarting {
		s.generation.Store(int64(e.Generation))
	}
	s.f.plugin.events.add(func() {
		text := eventText(e)
		s.log(daemon.Line{Time: e.Time, Generation: e.Generation, Stream: daemon.Own, Text: text})
		if !s.o.detached && !s.f.opts.verbose && notable(e) {
			s.f.streams.Note(s.f.plugin.path + ": " + text)
		}
	})
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

// complete adds to an error what only this process knows: its hints, the plugin's name,
// and that the cause may be an old file.
func (s *service) complete(err error) *hook.Error {
	e, name := s.f.complete(err), s.name
	if s.ready.Load() {
		e.Hints = startedWith(name, e.Hints)
	}
	if e.Reason == "gave-up" {
		e.Hints = append(e.Hints, fmt.Sprintf("run `pyplug restart %s`, or change its files and call it again", name))
	}
	if e.Kind == hook.Request || e.Kind == hook.Failed || (e.Kind == hook.Start || e.Kind == hook.Interpreter) && s.opened.EnvChanged() != "" {
		e.Hints = append(e.Hints, s.notes(0)...)
	}
	return e
}

// startedWith completes hints that name a flag of start for a caller of the running plugin.
func startedWith(name string, hints []string) []string {
	completed := slices.Clone(hints)
	for i, hint := range hints {
		for _, flag := range launchFlags(new(runner.Config)) {
			if slices.Contains(strings.FieldsFunc(hint, notInFlag), "--"+flag.Names()[0]) {
				completed[i] = hint + ": " + startAgain(name) + " with that"
				break
			}
		}
		if strings.Contains(hint, "pyplug sync ") || strings.Contains(hint, " -m venv ") {
			completed = append(completed, "to use the environment that this makes, run "+startAgain(name))
		}
	}
	return completed
}

// notInFlag reports whether a rune cannot be part of a flag's name.
func notInFlag(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }
