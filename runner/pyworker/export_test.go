package pyworker

import "github.com/pyplug/pyplug/runner/hook"

// CallersRead tells whether the caller of the next call waits for its answer itself.
func CallersRead(i hook.Instance) bool {
	w := i.(*instance)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alone && w.brisk
}
