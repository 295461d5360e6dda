package commands

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pyplug/pyplug/commands/hangup"
	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/check/stock"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

// abandonTime is how long pyplug may take to end after a third signal.
const abandonTime = 2 * time.Second

// Main runs the command line args, whose first word is the program's name, and returns the exit
// code. Processes that it started are gone when it returns, unless a third signal ended it early.
func Main(args []string, s *ui.Streams) int {
	if len(args) > 1 && args[1] == hostWord {
		hangup.Release()
		return stock.Main(args[2:], s.Out) // the stock host needs nothing of what follows
	}
	signals := watchSignals()
	defer signals.end()
	code := make(chan int, 1)
	go func() { // ends with the command, or with the process
		code <- run(signals, args, s)
	}()
	select {
	case c := <-code:
		return c
	case sig := <-signals.abandon:
		select {
		case c := <-code: // normal, because the second signal has killed the plugin
			return c
		case <-time.After(abandonTime):
			return 128 + int(sig)
		}
	}
}

// run runs a command and shows its error.
func run(signals *signals, args []string, s *ui.Streams) (code int) {
	prog := &program{streams: s, signals: signals}
	prog.commands = commandList(prog)
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			prog.fail(hook.NewError(hook.Internal, err))
			code = internalCode
		}
		runner.Shutdown()
	}()
	if len(args) > 1 && args[1] == daemonWord {
		args = slices.Concat(args[:2], daemon.TakeOver(), args[2:])
	}
	words, err := prog.readArgs(args)
	if !prog.keeps {
		signals.onHangup(nil)
	}
	if err == nil {
		err = newApp(prog).RunContext(signals.ctx, words)
	}
	if err != nil {
		err = failed(pluginOf(err), prog.line.Misplaced(err))
		prog.fail(err)
	}
	return exitCode(err)
}

// signals end a command. The first SIGINT, SIGTERM or SIGHUP cancels the work and stops the plugin.
// The second, or SIGQUIT, kills the plugin. The third ends pyplug within abandonTime, even if
// processes are left, and the guard kills those. A signal that pyplug was started to ignore, for
// example by nohup, stays ignored. SIGHUP has no effect until the command calls onHangup.
type signals struct {
	ctx      context.Context // ends with the first signal
	kill     context.Context // ends with the second signal
	abandon  chan syscall.Signal
	end      func()
	hangup   atomic.Pointer[func() bool]
	decided  chan struct{} // closed by the first onHangup
	decideIt func()        // closes decided
}

// onHangup makes SIGHUP call do, including a SIGHUP that came before. If do is nil or returns
// false, SIGHUP is a signal like the others.
func (s *signals) onHangup(do func() bool) {
	s.hangup.Store(&do)
	s.decideIt()
}

// watchSignals begins to catch signals.
func watchSignals() *signals {
	ctx, cancel := context.WithCancelCause(context.Background())
	kill, cancelKill := context.WithCancel(context.Background())
	l := &signals{ctx: ctx, kill: kill, abandon: make(chan syscall.Signal, 1), decided: make(chan struct{})}
	l.decideIt = sync.OnceFunc(func() { close(l.decided) })
	received := make(chan os.Signal, 3)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(received, s)
		}
	}
	hangup.Catch()
	// A closed pipe is an error of a write. It must not end pyplug, which has a plugin to stop.
	// This uses Notify instead of Ignore, because a child would inherit an ignored signal.
	brokenPipes := make(chan os.Signal, 1)
	signal.Notify(brokenPipes, syscall.SIGPIPE) // Windows does not have SIGPIPE, and never sends it
	done := make(chan struct{})
	go func() { // ends with l.end
		var hangups chan os.Signal // nil until their meaning is decided
		decided := l.decided
		for n := 1; n <= 3; {
			var s os.Signal
			select {
			case <-done:
				return
			case <-decided:
				hangups, decided = hangup.C, nil
				continue
			case s = <-hangups:
				if do := *l.hangup.Load(); do != nil && do() {
					continue
				}
			case s = <-received:
			}
			sig := s.(syscall.Signal) // all of them have this type
			if n == 3 {
				l.abandon <- sig
			}
			if sig == syscall.SIGQUIT {
				n = max(n, 2)
			}
			cancel(hook.NewError(hook.Canceled, &signalError{sig})) // the first cause remains
			if n >= 2 {
				cancelKill()
			}
			n++
		}
	}()
	l.end = func() {
		// The signals stay caught, because a signal that arrives now must not change the exit code.
		close(done)
		cancel(nil)
		cancelKill()
	}
	return l
}
