package proc

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Process is one process and the tree below it, from [Start] until all of it
// is gone. Its methods are safe for concurrent use. The zero value is of no
// use.
type Process struct {
	spec    Spec
	tree    *tree
	started time.Time
	conn    *Conn
	output  output
	reading sync.WaitGroup
	drained []*lingering // the streams that are read by us
	control *control     // over which it is asked to fork; nil for others

	holding  sync.WaitGroup // what holds the process to its limits
	throttle throttle
	exceeded atomic.Pointer[string] // the limit that it was killed for

	died chan struct{} // closed when the leader has exited
	done chan struct{} // closed when everything is over
	exit Exit          // valid then

	stopping sync.Once     // guards the one ladder
	hurry    chan struct{} // closed to skip to the kill
	hurrying sync.Once
	noStacks atomic.Bool // the kill is not to wait for stacks
	stopped  atomic.Bool // the exit was asked for
	killed   atomic.Bool // SIGKILL was ours
	step     step        // of the ladder, before that
}

// Start starts a process. When it cannot, the error is a [*StartError] and
// nothing is left of the attempt. The process lives until it exits, or until
// Stop, Kill, [Close] or the end of pyplug; whichever it is, nobody needs to
// wait for it, and nothing is left but a [Conn] to close.
func Start(s Spec) (*Process, error) {
	if !filepath.IsAbs(s.Path) {
		return nil, &StartError{Path: s.Path, Err: errNotAbsolute}
	}
	if err := s.Limits.Check(); err != nil {
		return nil, &StartError{Path: s.Path, Err: err}
	}
	if s.Env == nil {
		s.Env = Environ(os.Environ(), false, nil)
	}
	if s.Grace == 0 {
		s.Grace = defaultGrace
	}
	var own *control
	if s.Forks {
		var err error
		if own, s.control, err = newControl(); err != nil {
			return nil, &StartError{Path: s.Path, Err: err}
		}
		defer s.control.Close()
	}
	p, err := begin(s, own, plant)
	if err != nil {
		own.close()
		return nil, startError(s, err)
	}
	return p, nil
}

// begin begins a process that root makes, with the descriptors it is handed as 0,
// 1 and 2.
func begin(s Spec, own *control, root func(Spec, [3]*os.File) (*tree, error)) (*Process, error) {
	p := &Process{
		spec:    s,
		control: own,
		died:    make(chan struct{}),
		done:    make(chan struct{}),
		hurry:   make(chan struct{}),
	}
	p.output.onLine, p.output.raw = s.OnLine, s.raw
	f, err := openFiles(s.Talk)
	if err != nil {
		return nil, err
	}
	p.started = time.Now()
	held.planting.RLock()
	p.tree, err = root(s, f.child)
	if err == nil {
		held.add(p)
	}
	held.planting.RUnlock()
	f.closeChild()
	if err != nil {
		f.closeOurs()
		return nil, err
	}
	if s.Talk {
		p.conn = &Conn{in: f.in, out: f.out}
	} else {
		p.reading.Go(func() { p.output.drain(Stdout, f.out) })
		p.drained = append(p.drained, f.out)
	}
	p.drained = append(p.drained, f.err)
	p.reading.Go(func() { p.output.drain(Stderr, f.err) })
	go p.live(f.out, f.err)
	return p, nil
}

// live sees a process through to its end.
func (p *Process) live(streams ...*lingering) {
	before, ours := oomKills(), p.tree.firstMemory()
	p.hold()
	p.tree.awaitDeath()
	p.exit.Uptime = time.Since(p.started)
	reached, killed := p.step.get(), p.killed.Load() // at the death: the ladder may go on for a moment
	close(p.died)
	p.holding.Wait()
	p.control.barren()
	end := p.tree.fell(p.hurry)
	for _, s := range streams {
		s.linger()
	}
	p.reading.Wait()
	p.exit.Code, p.exit.Signal = end.code, end.signal
	if end.maxRSS > ours {
		p.exit.MaxRSS = end.maxRSS
	}
	p.exit.Stderr, p.exit.Stacks = p.output.last(), p.output.stacks
	p.exit.Stopped = p.stopped.Load()
	p.exit.Step, p.exit.Left = reached, end.left
	if killed && (end.signal == "SIGKILL" || !tellsSignals) {
		p.exit.Step = "SIGKILL"
	}
	if limit := p.exceeded.Load(); limit != nil && end.signal == "SIGKILL" && !killed {
		p.exit.Limit = *limit
	}
	byUs := p.killed.Load() || p.exit.Limit != ""
	p.exit.OutOfMemory = end.signal == "SIGKILL" && outOfMemory(byUs, before, oomKills())
	held.remove(p)
	p.control.close()
	close(p.done)
}

// PID is the process's number. It may belong to another process once Done is
// closed.
func (p *Process) PID() int { return p.tree.pid }

// Started is when the process was started.
func (p *Process) Started() time.Time { return p.started }

// Conn is the connection to a process started with Talk; nil for others.
func (p *Process) Conn() *Conn { return p.conn }

// Interrupt sends SIGINT to the process alone, not to what it started, and gives it
// a [Process.Respite] to answer. [os.ErrProcessDone] when it is gone,
// [errors.ErrUnsupported] on Windows.
func (p *Process) Interrupt() error {
	err := p.tree.interrupt()
	p.Respite(interruptTime)
	return err
}

// Crash ends the process alone, at once, as something outside of pyplug would:
// it does not count as stopped. [os.ErrProcessDone] when it is gone.
func (p *Process) Crash() error { return p.tree.crash() }

// Done is closed when the process and all that it started are gone and its
// streams have been read to their end.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how the process ended. It is valid once Done is closed; before
// that it waits for it.
func (p *Process) Exit() Exit {
	<-p.done
	return p.exit
}

// files are the ends of the pipes between a process and us.
type files struct {
	child    [3]*os.File
	in       *os.File // nil unless it talks
	out, err *lingering
}

func openFiles(talk bool) (f files, err error) {
	defer func() {
		if err != nil {
			f.closeChild()
			f.closeOurs()
		}
	}()
	if talk {
		f.child[0], f.in, err = newPipe(true)
	} else {
		f.child[0], err = os.Open(os.DevNull)
	}
	if err != nil {
		return f, err
	}
	for i, end := range []**lingering{1: &f.out, 2: &f.err} {
		if end == nil {
			continue
		}
		theirs, ours, err := newPipe(false)
		if err != nil {
			return f, err
		}
		f.child[i], *end = theirs, &lingering{File: ours}
	}
	return f, nil
}

func (f *files) closeChild() {
	for _, c := range f.child {
		if c != nil {
			c.Close()
		}
	}
}

func (f *files) closeOurs() {
	if f.in != nil {
		f.in.Close()
	}
	for _, l := range []*lingering{f.out, f.err} {
		if l != nil {
			l.Close()
		}
	}
}
