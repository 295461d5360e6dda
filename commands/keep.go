package commands

import (
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// followEvents makes a plugin that is kept alive report its transitions, until
// endEvents.
func (p *plugin) followEvents(k *runner.Keep) {
	p.events = newBacklog()
	more := k.Events
	k.Events = func(e hook.Event) {
		if e.To == hook.StateStarting {
			p.output.SetGeneration(e.Generation)
		}
		p.events.add(func() { p.logEvent(e) })
		if more != nil {
			more(e)
		}
	}
	if k.Note == nil {
		k.Note = func(text string) { p.f.streams.Note(p.path + ": " + text) }
	}
}

// logEvent logs a transition.
func (p *plugin) logEvent(e hook.Event) {
	fields := []any{"plugin", p.path, "generation", e.Generation}
	if e.Worker != 0 {
		fields = append(fields, "worker", e.Worker)
	}
	if e.PID != 0 {
		fields = append(fields, "pid", e.PID)
	}
	if e.Exit != nil {
		fields = append(fields, "exit", e.Exit.String())
	}
	if e.Delay > 0 {
		fields = append(fields, "again_after", time.Duration(e.Delay))
	}
	p.f.streams.Log("info", string(e.To)+": "+e.Reason, fields...)
}

// endEvents reports the rest of the transitions. The plugin must be gone.
func (p *plugin) endEvents() {
	if p.events == nil {
		return
	}
	if lost := p.events.close(); lost > 0 {
		p.f.streams.Warn(fmt.Sprintf("%d events were not reported: the reader was too slow", lost))
	}
}
