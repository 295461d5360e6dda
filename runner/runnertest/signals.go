package runnertest

import (
	"os"
	"os/signal"
	"syscall"
)

// RestoreSignals is for a TestMain. Tests that a script starts in the background, or
// with nohup, ignore signals, and their children would inherit that.
func RestoreSignals() {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // children do not inherit a handler
		}
	}
}
