package commands

import "os"

// notifyBrokenPipe does nothing: Windows has no such signal.
func notifyBrokenPipe(chan<- os.Signal) {}
