package runnertest

import (
	"os"
	"os/signal"
	"syscall"
)

// HeedSignals is for a TestMain. Tests that a script starts in its background, or
// nohup does, ignore signals, and so would all that they start.
func HeedSignals() {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // which is not inherited, and ends nothing here
		}
	}
}
