package pyworker

import "github.com/pyplug/pyplug/runner/hook"

// The tests use these to act as a worker.
var NewFrame = newFrame

const (
	HeaderSize = headerSize
	Window     = window
)

// PrintLimit is the maximum time that an answer waits for the output printed before it.
var PrintLimit = &printLimit

// Exited reports whether the process of an instance has exited.
func Exited(w hook.Instance) bool { return w.(*instance).proc.Exited() }

// Sent returns the number of calls that were sent to an instance and are not answered.
func Sent(inst hook.Instance) (n int) {
	w := inst.(*instance)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c.sent >= c.number {
			n++
		}
	}
	return n
}
