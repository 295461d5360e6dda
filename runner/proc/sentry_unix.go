//go:build linux || darwin

package proc

import (
	"os"
	"strconv"
	"syscall"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// sentry is our side of a running guard. A nil sentry is one that could not be
// started. It is not safe for concurrent use.
type sentry struct {
	pid  int
	pipe int // write end; the guard acts when it closes
}

// newSentry starts a guard, in a session of its own; nil when it cannot.
func newSentry(run guard.Run) *sentry {
	prepare()
	null, err := syscall.Open(os.DevNull, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(null)
	r, w, err := rawPipe()
	if err != nil {
		return nil
	}
	defer syscall.Close(r)
	files := []uintptr{0: uintptr(null), 1: uintptr(null), 2: uintptr(null), guard.Pipe: uintptr(r)}
	pid, err := syscall.ForkExec(ourselves(), []string{guard.Name}, &syscall.ProcAttr{
		Env:   []string{guard.Variable + "=" + run.String()},
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		syscall.Close(w)
		return nil
	}
	s := &sentry{pid: pid, pipe: w}
	s.conceal()
	return s
}

// alive tells whether the guard still runs; one that does not is done with.
func (s *sentry) alive() bool {
	if s == nil || s.pid == 0 {
		return false
	}
	got, err := syscall.Wait4(s.pid, nil, syscall.WNOHANG, nil)
	if got == 0 && (err == nil || err == syscall.EINTR) {
		return true
	}
	syscall.Close(s.pipe)
	s.pid = 0
	return false
}

// tell sends one message. A guard that is gone misses it, and its successor is
// told anew.
func (s *sentry) tell(message string) {
	if s == nil || s.pid == 0 {
		return
	}
	for b := []byte(message + "\x00"); len(b) > 0; {
		n, err := syscall.Write(s.pipe, b)
		if err != nil && err != syscall.EINTR {
			return
		}
		b = b[max(n, 0):]
	}
}

// note tells of a group, where the guard has to know.
func (s *sentry) note(word string, group int) {
	if tellsGroups {
		s.tell(word + strconv.Itoa(group))
	}
}

// end ends the guard, which then does nothing.
func (s *sentry) end() {
	if !s.alive() {
		return
	}
	syscall.Kill(s.pid, syscall.SIGKILL)
	for {
		if _, err := syscall.Wait4(s.pid, nil, 0, nil); err != syscall.EINTR {
			break
		}
	}
	syscall.Close(s.pipe)
	s.pid = 0
}
