//go:build linux || darwin

package proc

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// tree is one process, the leader, and all that it starts.
type tree struct {
	pid      int // also the group's number
	n        uint32
	lifeline int     // descriptor of the write end; -1 without one
	forked   *forked // how it came from a process of ours; nil for our own child

	mu     sync.Mutex
	reaped bool // the number may be somebody else's
}

// plant starts the leader, in a group of its own, with child as its
// descriptors 0, 1 and 2.
func plant(s Spec, child [3]*os.File) (*tree, error) {
	prepare()
	t := &tree{n: held.next(), lifeline: -1}
	fds := []uintptr{child[0].Fd(), child[1].Fd(), child[2].Fd()}
	if s.control != nil {
		fds = append(fds, s.control.Fd())
	}
	life := newLifeline()
	attr := &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   tagged(s.Env, tag(t.n, s.Forks)),
		Files: life.place(fds),
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	}
	var err error
	t.pid, err = syscall.ForkExec(s.Path, append([]string{s.Path}, s.Args...), attr)
	if err != nil {
		life.drop()
		return nil, err
	}
	// From here on the child runs: first the mark, then the lifeline, so that
	// it has no time to start something that has neither.
	t.mark()
	t.lifeline = life.arm(t.pid)
	return t, nil
}

// tag is that of the run's n-th process, after that of a pyplug that runs us. One
// that is to be replaced by another is as long as every other, by colons.
func tag(n uint32, replaced bool) string {
	tag := held.run.Element(n)
	if replaced {
		tag += strings.Repeat(":", len(held.run.Element(guard.Last))-len(tag))
	}
	if outer := os.Getenv(guard.Tag); outer != "" {
		tag = outer + ":" + tag
	}
	return tag
}

// tagged is env with a tag.
func tagged(env []string, tag string) []string {
	out := make([]string, 0, len(env)+1)
	for _, entry := range env {
		if len(entry) <= len(guard.Tag) || entry[:len(guard.Tag)+1] != guard.Tag+"=" {
			out = append(out, entry)
		}
	}
	return append(out, guard.Tag+"="+tag)
}

// newPipe makes a pipe of which the child inherits one end, blocking as
// programs expect it, while ours is served by the poller.
func newPipe(childReads bool) (theirs, ours *os.File, err error) {
	r, w, err := rawPipe()
	if err != nil {
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	if childReads {
		r, w = w, r
	}
	if err := syscall.SetNonblock(r, true); err != nil {
		syscall.Close(r)
		syscall.Close(w)
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(w), "pipe"), os.NewFile(uintptr(r), "pipe"), nil
}

// send signals the leader or, with a negative number, its group; never after
// the leader was reaped.
func (t *tree) send(pid int, s syscall.Signal) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reaped {
		return os.ErrProcessDone
	}
	err := syscall.Kill(pid, s)
	if err == syscall.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

func (t *tree) interrupt() error     { return t.send(t.pid, syscall.SIGINT) }
func (t *tree) crash() error         { return t.send(t.pid, syscall.SIGKILL) }
func (t *tree) signal(sig int) error { return t.send(t.pid, syscall.Signal(sig)) }

// polite is the signal that the leader catches, with its name.
func (t *tree) polite() (syscall.Signal, string) {
	s := syscall.SIGTERM
	if !t.catches(int(syscall.SIGTERM)) && t.catches(int(syscall.SIGINT)) {
		s = syscall.SIGINT
	}
	return s, signalName(s)
}

// terminate sends the group the polite signal. A stopped process is woken, for
// it could not act on it.
func (t *tree) terminate(s syscall.Signal) {
	t.send(-t.pid, s)
	t.send(-t.pid, syscall.SIGCONT)
}

// kill kills the group, and the leader should it have left it.
func (t *tree) kill() {
	t.send(-t.pid, syscall.SIGKILL)
	t.send(t.pid, syscall.SIGKILL)
}

// ending is how the leader ended.
type ending struct {
	code   int
	signal string
	maxRSS int64
	left   []string // by name, what it left behind
}

// reap takes the status of the dead leader, after which its number is free. Nobody
// signals it from then on; nor does anybody wait while another process is asked.
func (t *tree) reap() ending {
	t.mu.Lock()
	t.reaped = true
	t.mu.Unlock()
	status, maxRSS, err := t.takeStatus()
	if t.lifeline >= 0 {
		syscall.Close(t.lifeline)
	}
	switch {
	case err != nil: // somebody else took the status
		return ending{code: -1}
	case status.Signaled():
		return ending{code: -1, signal: signalName(status.Signal()), maxRSS: maxRSS * rssUnit}
	}
	return ending{code: status.ExitStatus(), maxRSS: maxRSS * rssUnit}
}

// waitFor takes the status of a child of ours.
func waitFor(pid int) (status syscall.WaitStatus, maxRSS int64, err error) {
	var usage syscall.Rusage
	_, err = syscall.Wait4(pid, &status, 0, &usage)
	for err == syscall.EINTR {
		_, err = syscall.Wait4(pid, &status, 0, &usage)
	}
	return status, int64(usage.Maxrss), err
}

// tellsSignals tells that an ending names the signal that it came by.
const tellsSignals = true

// realTimeMin is the first real-time signal that programs may use; the C
// library keeps two to itself.
const realTimeMin, realTimeMax = 34, 64

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	if s == realTimeMin {
		return "SIGRTMIN"
	}
	if realTimeMin < s && s <= realTimeMax {
		return "SIGRTMIN+" + strconv.Itoa(int(s-realTimeMin))
	}
	return "signal " + strconv.Itoa(int(s))
}
