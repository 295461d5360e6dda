//go:build linux || darwin

package proc

import (
	"os"
	"strconv"
	"syscall"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// guardProcess is pyplug's side of a running guard. It is nil if no guard could be started. It is
// not safe for concurrent use.
type guardProcess struct {
	pid  int
	pipe *os.File // write end; the guard acts when it closes
}

// startGuard starts a guard in its own session.
func startGuard(run string) *guardProcess {
	prepare()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	files := []uintptr{0: null.Fd(), 1: null.Fd(), 2: null.Fd(), guard.Pipe: r.Fd()}
	running.starting.RLock() // before exec, the child looks like an orphan
	defer running.starting.RUnlock()
	pid, err := syscall.ForkExec(executable(), []string{guard.Name}, &syscall.ProcAttr{
		Env:   []string{guard.Variable + "=" + run},
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		w.Close()
		return nil
	}
	return &guardProcess{pid: pid, pipe: w}
}

// alive reports whether the guard still runs. It reaps a dead guard.
func (g *guardProcess) alive() bool {
	if g == nil || g.pid == 0 {
		return false
	}
	got, err := syscall.Wait4(g.pid, nil, syscall.WNOHANG, nil)
	if got == 0 && (err == nil || err == syscall.EINTR) {
		return true
	}
	g.pipe.Close()
	g.pid = 0
	return false
}

// send sends one message. If the guard is gone, the message is lost, but the next guard gets all
// messages again.
func (g *guardProcess) send(message string) {
	if g != nil {
		g.pipe.WriteString(message + "\x00")
	}
}

// sendGroup reports a group on systems where the guard needs that.
func (g *guardProcess) sendGroup(word string, group int) {
	if guardNeedsGroups {
		g.send(word + strconv.Itoa(group))
	}
}

// end kills the guard before it can clean up.
func (g *guardProcess) end() {
	if !g.alive() {
		return
	}
	syscall.Kill(g.pid, syscall.SIGKILL)
	waitFor(g.pid)
	g.pipe.Close()
	g.pid = 0
}
