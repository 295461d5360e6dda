package commands

import (
	"cmp"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// exits is the public contract of exit codes. The help, the README and exitCode follow it.
var exits = []struct {
	code    int
	kind    hook.Kind // empty if no error has this code
	meaning string
}{
	{0, "", "success, including a clean stop of `serve` after SIGTERM"},
	{1, hook.Failed, "the hook raised or returned an error, or its result cannot be represented or written; for `test`: a case failed"},
	{2, hook.Usage, "wrong flags or arguments of pyplug; PLUGIN does not exist; another plugin has the NAME"},
	{3, hook.Interpreter, "no Python found, a broken environment, or a version outside requires-python"},
	{4, hook.Request, "no such hook, or arguments that do not fit it"},
	{5, hook.Start, "the plugin failed to start: syntax error, import error, import timeout, exit before ready"},
	{6, hook.Handshake, "no handshake, a malformed or refused one, or no connection"},
	{7, hook.Unhealthy, "the plugin started but is not healthy; for `check`: stage `stop`, `host` or `again` failed, or a warning with `--strict`"},
	{8, hook.Crash, "the plugin exited during the call; for `check`: it exited on its own"},
	{9, hook.Unavailable, "not running, queue full, or gave up restarting"},
	{124, hook.Timeout, "the call timed out"},
	{internalCode, hook.Internal, "a bug in pyplug"},
	{130, hook.Canceled, "interrupted (143: terminated); pyplug then kills itself with the same signal, so that a shell loop stops, too"},
}

const internalCode = 125

// errQuiet ends a command silently, because nobody reads its output any more.
var errQuiet = errors.New("the reader of standard output is gone")

// signalError is the error of a command that a signal ended.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string {
	known := map[syscall.Signal]string{syscall.SIGINT: "interrupted", syscall.SIGTERM: "terminated"}
	return cmp.Or(known[e.signal], "ended by "+e.signal.String())
}

// SignalName returns the name of the signal, such as "SIGTERM".
func (e *signalError) SignalName() string {
	known := map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP", syscall.SIGQUIT: "SIGQUIT"}
	return cmp.Or(known[e.signal], e.signal.String())
}

// printedError is the exit code of a command whose failures have been printed.
type printedError struct{ code int }

func (e *printedError) Error() string { return "the command failed" }

// exitCode maps an error to its code. It maps nil to 0.
func exitCode(err error) int {
	if err == nil || errors.Is(err, errQuiet) {
		return 0
	}
	if interrupted, ok := errors.AsType[*signalError](err); ok {
		return 128 + int(interrupted.signal)
	}
	if printed, ok := errors.AsType[*printedError](err); ok {
		return printed.code
	}
	kind := hook.AsError(err).Kind
	for _, row := range exits {
		if kind != "" && row.kind == kind {
			return row.code
		}
	}
	return internalCode
}

// resent lists the signals that [EndBySignal] sends to its own process. SIGQUIT is not among them,
// because Go's default is to print all goroutines.
var resent = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// resendTime is how long a signal may take to end the process.
const resendTime = time.Second

// EndBySignal ends the process with the signal for code, which [Main] returned. A shell ends a loop
// only if a signal ended the program, not because of an exit code. EndBySignal returns if code
// stands for no such signal. It also returns on Windows and as process 1, where the signal does not
// end the process.
func EndBySignal(code int) {
	sig := syscall.Signal(code - 128)
	if !slices.Contains(resent, sig) || os.Getpid() == 1 {
		return
	}
	signal.Reset(sig)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(sig) == nil {
		<-time.After(resendTime)
	}
}
