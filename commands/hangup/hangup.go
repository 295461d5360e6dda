package hangup

import (
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// C receives SIGHUP. Its capacity is one signal.
var C = make(chan os.Signal, 1)

func init() {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") { // a command rather than a test binary
		Catch()
	}
}

// Catch begins to catch SIGHUP, unless init did or the process ignores it.
var Catch = sync.OnceFunc(func() {
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(C, syscall.SIGHUP)
	}
})

// Release restores the handling of SIGHUP from the start of the process.
func Release() { signal.Reset(syscall.SIGHUP) }
