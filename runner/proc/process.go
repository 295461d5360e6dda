package proc

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Process is one process and the tree below it, from [Start] until all of it is gone. Its methods
// are safe for concurrent use. The zero value is not usable.
type Process struct {
	spec    Spec
	tree    *tree
	started time.Time
	conn    *Conn
	output  output
	reading sync.WaitGroup
	drained []*outputPipe // the pipes that pyplug reads
	control *control      // the socket to a process that forks, or nil

	// delivered receives a token when everything read from one of the drained pipes has been
	// delivered.
	delivered chan struct{}

	exceeded atomic.Pointer[string] // the limit that it exceeded and was killed for

	died chan struct{} // closed when the leader has exited
	done chan struct{} // closed when the whole tree is gone
	exit Exit          // valid after done

	stopOnce sync.Once       // starts the only ladder
	forced   context.Context // when it ends, the ladder skips to the kill
	force    context.CancelFunc
	dumping  sync.Mutex   // held while stacks are printed and collected
	noStacks atomic.Bool  // the kill does not wait for stacks
	stopped  atomic.Bool  // pyplug requested the exit
	killed   atomic.Bool  // the ladder sent SIGKILL
	step     atomic.Value // the current step of the ladder, a string, or unset before the first
}

// Start starts a process. If it fails, it returns the reason, and nothing is left behind. The
// process lives until it exits, or until Stop, Kill, [Close] or the end of pyplug. Nobody needs to
// wait for it. Only its [Conn] must be closed.
func Start(s Spec) (*Process, error) {
	if !filepath.IsAbs(s.Path) {
		return nil, startError(s.Path, errNotAbsolute)
	}
	if err := CheckMaxMemory(s.MaxMemory); err != nil {
		return nil, startError(s.Path, err)
	}
	if s.Env == nil {
		s.Env = Environ(os.Environ(), false, nil)
	}
	var ours *control
	if s.Forks {
		var err error
		if ours, s.control, err = newControl(); err != nil {
			return nil, startError(s.Path, err)
		}
		defer s.control.Close()
	}
	p, err := launch(s, ours, startTree)
	if err != nil {
		ours.close()
		return nil, startError(s.Path, diagnose(s, err))
	}
	return p, nil
}

// launch creates the pipes and calls start to create a process with the child's ends.
func launch(s Spec, ours *control, start func(Spec, []*os.File) (*tree, error)) (*Process, error) {
	s.Grace = cmp.Or(s.Grace, defaultGrace)
	p := &Process{spec: s, control: ours, delivered: make(chan struct{}, 1), died: make(chan struct{}), done: make(chan struct{})}
	p.forced, p.force = context.WithCancel(context.Background())
	p.output.onLine, p.output.raw, p.output.both = s.OnLine, s.raw, s.Talk
	f, err := openFiles(s.Talk)
	if err != nil {
		return nil, err
	}
	p.started = time.Now()
	running.starting.RLock()
	p.tree, err = start(s, f.child)
	if err == nil {
		running.add(p)
	}
	running.starting.RUnlock()
	if err == nil {
		running.protect(p)
	}
	f.closeChild()
	if err != nil {
		f.closeOurs()
		return nil, err
	}
	p.drain(Stdout, f.out[0])
	p.drain(Stderr, f.out[1])
	if s.Talk {
		p.conn = &Conn{in: f.in, out: f.out[2]}
	}
	go p.watch(f.out)
	return p, nil
}

// drain reads one stream to its end.
func (p *Process) drain(stream Stream, from *outputPipe) {
	p.drained, from.delivered = append(p.drained, from), p.delivered
	p.reading.Go(func() { p.output.drain(stream, from) })
}

// watch waits for the end of the process, cleans up after it, and records its exit.
func (p *Process) watch(pipes []*outputPipe) {
	oomBefore := oomKills()
	var limiting sync.WaitGroup
	limiting.Go(p.limitMemory)
	p.tree.awaitDeath()
	p.exit.Uptime = time.Since(p.started)
	p.exit.Step, _ = p.step.Load().(string) // now, because the ladder may continue for a moment
	killed := p.killed.Load()
	close(p.died)
	limiting.Wait()
	end := p.tree.cleanUp(p.forced)
	for _, o := range pipes {
		o.processGone()
	}
	p.reading.Wait()
	p.exit.Code, p.exit.Signal, p.exit.Left = end.code, end.signal, end.left
	p.exit.Stderr, p.exit.Stacks = p.output.last(), p.output.stacks
	p.exit.Stopped = p.stopped.Load()
	if killed && (end.signal == "SIGKILL" || !HasSignals) {
		p.exit.Step = "SIGKILL"
	}
	if limit := p.exceeded.Load(); limit != nil && end.signal == "SIGKILL" && !killed {
		p.exit.Limit = *limit
	}
	killedByUs := p.killed.Load() || p.exit.Limit != ""
	p.exit.OutOfMemory = end.signal == "SIGKILL" && !killedByUs && oomKills() > oomBefore
	running.remove(p)
	p.control.close()
	close(p.done)
}

// PID returns the number of the process. It may belong to another process after Done is closed.
func (p *Process) PID() int { return p.tree.pid }

// Started returns the time of the start.
func (p *Process) Started() time.Time { return p.started }

// Conn returns the connection to a process that was started with Talk, or nil for others.
func (p *Process) Conn() *Conn { return p.conn }

// Interrupt sends SIGINT only to the process, not to its descendants. It returns
// [os.ErrProcessDone] if the process is gone. On Windows it sets the Event of [Descriptors], or
// returns [errors.ErrUnsupported] if the process does not talk.
func (p *Process) Interrupt() error { return p.tree.signal(syscall.SIGINT) }

// Urge sends SIGURG only to the process, which ignores it unless it has a handler. On Windows it
// does the same as Interrupt. It returns the same errors as Interrupt.
func (p *Process) Urge() error { return p.tree.signal(urgent) }

// Crash kills only the process, at once, as in a real crash. The process does not count as stopped.
// Crash returns [os.ErrProcessDone] if the process is gone.
func (p *Process) Crash() error { return p.tree.signal(syscall.SIGKILL) }

// Done is closed when the process and everything that it started are gone and its streams have been
// read to their end.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit waits for Done and returns how the process ended.
func (p *Process) Exit() Exit {
	<-p.done
	return p.exit
}

// files are the ends of the pipes between a process and pyplug.
type files struct {
	child []*os.File    // standard input, output and error; with Talk also the pipes to and from pyplug
	in    *os.File      // nil without Talk
	out   []*outputPipe // standard output and error; with Talk also the pipe to pyplug
}

func openFiles(talk bool) (f files, err error) {
	defer func() {
		if err != nil {
			f.closeChild()
			f.closeOurs()
		}
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return f, err
	}
	f.child = append(f.child, null)
	for range 2 {
		if err = f.addOutput(); err != nil {
			return f, err
		}
	}
	if !talk {
		return f, nil
	}
	theirs, in, err := os.Pipe()
	if err != nil {
		return f, err
	}
	f.child, f.in = append(f.child, theirs), in
	if err = f.addOutput(); err != nil {
		return f, err
	}
	return f, f.out[2].pausable()
}

// addOutput adds a pipe to which the child writes.
func (f *files) addOutput() error {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	f.child = append(f.child, theirs)
	out, err := newOutputPipe(ours)
	f.out = append(f.out, out)
	return err
}

func (f *files) closeChild() {
	for _, c := range f.child {
		c.Close()
	}
}

func (f *files) closeOurs() {
	if f.in != nil {
		f.in.Close()
	}
	for _, o := range f.out {
		o.Close()
	}
}

// ErrNoFork is the error of a process that cannot fork any more, because it is gone, or because it
// did not answer and was killed.
var ErrNoFork = errors.New("the process that forks is gone")

// Fork makes a process that was started with Forks fork a worker. The worker is a [Process] like
// one from [Start] with Talk, with its own group, lifeline, tag, pipes and Exit. Fork uses OnLine,
// StackSignal, Grace and MaxMemory of s. The forking process determines the other values. The
// worker may outlive the forking process.
//
// Fork returns within 2 seconds and is safe for concurrent use. It returns [ErrNoFork] if the
// process is gone, or did not answer and was killed; an error of the system, such as EAGAIN; or
// [errors.ErrUnsupported] if [CanFork] is false. After an error nothing is left behind. After
// [ErrNoFork] that is true only when the process is Done.
//
// The process has a socket of whole messages (SOCK_SEQPACKET), see [Descriptors]. It receives one
// request at a time, and answers each in one message:
//
//	fork PLACE TAG   Fork a worker. The message carries the descriptors of its standard
//	                 output and error, of its pipes from and to pyplug, and perhaps a fifth
//	                 one, which the worker must have as number PLACE. The worker needs its
//	                 own group, and TAG as PYPLUG_RUN in the memory of its initial
//	                 environment. TAG is as long as the value that it replaces there. The
//	                 worker must not run the user's code until it can read something. The
//	                 answer is "pid PID", or "errno NUMBER" if the system refused.
//	reap PID         Reap a dead worker. The answer is "status STATUS", with the status of
//	                 waitpid, or "gone" if there is no such worker.
//
// When the socket is closed, the process must exit.
func (p *Process) Fork(s Spec) (*Process, error) {
	if p.control == nil {
		return nil, errors.ErrUnsupported
	}
	if err := CheckMaxMemory(s.MaxMemory); err != nil {
		return nil, startError(p.spec.Path, err)
	}
	s.Path, s.Args, s.Env, s.Dir, s.Talk = p.spec.Path, p.spec.Args, p.spec.Env, p.spec.Dir, true
	return launch(s, nil, func(_ Spec, child []*os.File) (*tree, error) { return p.forkTree(child) })
}
