package pyworker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

var (
	// errCondemned answers calls that come after a worker was condemned.
	errCondemned = errors.New("the worker did not answer for an earlier call and is being stopped")
	errClosed    = errors.New("the plugin closed it")
)

// instance is one worker. Whoever has the reader's turn owns the reading end; all
// else is behind mu.
type instance struct {
	cfg  Config
	proc *proc.Process
	info hook.Info

	greeted chan hook.Info  // what hello said
	ready   chan wire.Frame // ready, or the error that came instead
	lost    chan struct{}   // closed when no frame will come any more
	fault   error           // why reading ended, if not by the end; valid after lost
	reader  reader
	hailed  bool          // hello has come; the reader's
	loaded  bool          // the answer to load has; the same
	free    chan struct{} // holds a token for each call that may still begin

	first bool // none has started before: where the import is when it is given up is told

	stopping atomic.Bool // the stop ladder has begun
	hurried  atomic.Bool // somebody had no time for the ladder

	mu        sync.Mutex // protects following, and the calls among calls
	out       outbox
	calls     map[uint32]*pending // sent and not answered
	inOrder   bool                // it begins a call when it has answered those before
	givenUp   int                 // how many of them have lost their callers
	hung      *pending            // the probe among those
	last      uint32              // number of the newest call
	condemned bool
	over      bool                   // no answer comes any more
	alone     bool                   // one call at a time, and one processor
	brisk     bool                   // the call before this one was answered quickly
	known     map[string]schema.Hook // the signatures that words needed
	idle      chan struct{}          // closed when a condemned worker has no call left
}

var _ hook.Instance = (*instance)(nil)

func newInstance(cfg Config, p *proc.Process) *instance {
	w := &instance{
		cfg:     cfg,
		proc:    p,
		greeted: make(chan hook.Info, 1),
		ready:   make(chan wire.Frame, 1),
		lost:    make(chan struct{}),
		reader:  reader{frames: wire.NewReader(unwaiting{p.Conn()}, 0)},
		free:    make(chan struct{}, cfg.Concurrency),
		inOrder: !cfg.Threads,
		alone:   cfg.Concurrency == 1 && runtime.GOMAXPROCS(0) == 1,
		calls:   make(map[uint32]*pending),
		known:   make(map[string]schema.Hook),
		idle:    make(chan struct{}),
	}
	for range cfg.Concurrency {
		w.free <- struct{}{}
	}
	return w
}

func (w *instance) Concurrency() int      { return w.cfg.Concurrency }
func (w *instance) Done() <-chan struct{} { return w.proc.Done() }
func (w *instance) Info() hook.Info       { return w.info }

// Exit is how the process ended, without the worker's frames in the stacks that
// faulthandler writes of a dying Python.
func (w *instance) Exit() hook.Exit {
	exit := hook.Exit(w.proc.Exit())
	exit.Stderr, exit.Stacks = trimmed(exit.Stderr), trimmed(exit.Stacks)
	return exit
}

// Stop asks the worker to end as a Python program ends, then walks the ladder.
// The error, of kind Timeout, says that it had to be killed.
func (w *instance) Stop(ctx context.Context) error {
	w.stop(ctx, w.quit)
	<-w.lost
	exit := w.Exit()
	w.cfg.Debug("proc", fmt.Sprintf("pid %d ended: code %d %s, after %s", w.proc.PID(), exit.Code, exit.Signal, exit.Uptime))
	w.mu.Lock()
	asked := !w.condemned
	w.mu.Unlock()
	if ctx.Err() != nil {
		w.hurried.Store(true)
	}
	if exit.Stopped && exit.Signal == "SIGKILL" && asked && !w.hurried.Load() {
		return &hook.Error{Kind: hook.Timeout, At: stackFrames(exit.Stacks),
			Err: &hook.LimitError{What: "the plugin did not end", Limit: w.cfg.StopTimeout}}
	}
	return nil
}

// quit asks the worker to end, when what is being written is.
func (w *instance) quit(context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.control(wire.Quit, 0)
}

// Crash ends the process as something outside of pyplug would.
// [os.ErrProcessDone] when it is gone.
func (w *instance) Crash() error { return w.proc.Crash() }

// stop walks the ladder, which the reader must not overtake when it sees the
// connection closed.
func (w *instance) stop(ctx context.Context, ask func(context.Context)) {
	w.stopping.Store(true)
	w.proc.Stop(ctx, ask)
}

// Describe lists the hooks.
func (w *instance) Describe(ctx context.Context) (schema.Schema, error) {
	s, err := w.describe(ctx, "")
	if err != nil {
		return schema.Schema{}, err
	}
	return s, nil
}

// describe asks for one hook, or for all when the name is empty.
func (w *instance) describe(ctx context.Context, name string) (schema.Schema, *hook.Error) {
	p := newPending(name)
	defer p.free()
	if name == "" {
		p.frame = append(p.frame, "null"...)
	} else {
		p.frame = appendName(p.frame, name)
	}
	f, herr := w.ask(ctx, wire.Describe, p)
	if herr != nil {
		return schema.Schema{}, herr
	}
	var s schema.Schema
	if err := json.Unmarshal(f.Body, &s); err != nil {
		return s, &hook.Error{Kind: hook.Internal, Err: fmt.Errorf("the worker's description: %w", err)}
	}
	return s, nil
}

// Probe asks the plugin's own health function. A worker that is busy with a
// call is not asked: it is alive, and its call has a limit of its own. One whose
// function runs out of time is interrupted, and is not condemned for it, even if
// it does not answer: the error is of kind Timeout, also for the probes that come
// until it does.
func (w *instance) Probe(ctx context.Context) error {
	if err := w.relieve(wire.Probe); err != nil {
		return err
	}
	select {
	case token := <-w.free:
		w.free <- token
	default:
		if !w.orphaned() {
			return nil
		}
	}
	p := newPending(w.cfg.Probe)
	defer p.free()
	p.probe = true
	f, err := w.ask(ctx, wire.Probe, p)
	if err != nil {
		if err.Kind == hook.Failed || err.Kind == hook.Request {
			err.Kind = hook.Unhealthy
		}
		return err
	}
	var verdict struct {
		Degraded string `json:"degraded"`
	}
	if err := json.Unmarshal(f.Body, &verdict); err != nil {
		return &hook.Error{Kind: hook.Internal, Err: fmt.Errorf("the worker's health: %w", err)}
	}
	if verdict.Degraded != "" {
		return &hook.Error{Kind: hook.Unhealthy, Err: errors.New(verdict.Degraded)}
	}
	return nil
}

// orphaned tells whether all calls that there are have lost their callers: nobody's
// limit bounds them.
func (w *instance) orphaned() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.givenUp > 0 && w.givenUp == len(w.calls)
}

// send writes one frame at once, while nobody else writes: during the start.
func (w *instance) send(t wire.Type, call uint32, body ...[]byte) error {
	w.debugFrame("to worker", wire.Frame{Type: t, Call: call}, body...)
	_, err := w.proc.Conn().Write(wire.Append(nil, t, call, body...))
	return err
}

// begin enters a call, so that its answer finds it, and sends its frame. Brisk
// tells that the answer is expected so soon that its caller is to wait for it.
func (w *instance) begin(t wire.Type, p *pending) (brisk bool, err error) {
	w.mu.Lock()
	if err := w.refuses(); err != nil {
		w.mu.Unlock()
		return false, err
	}
	w.last++
	if w.last == 0 { // 0 is the worker itself
		w.last++
	}
	p.number = w.last
	w.calls[p.number] = p
	wire.PutHeader(p.frame, t, p.number)
	w.debugFrame("to worker", wire.Frame{Type: t, Call: p.number}, p.frame[wire.HeaderSize:])
	brisk = w.brisk && w.alone && len(w.calls) == 1
	w.post(p)
	return brisk, nil
}

// refuses tells why no call can begin.
func (w *instance) refuses() error {
	switch {
	case w.condemned:
		return errCondemned
	case w.over:
		return errEnded
	}
	return nil
}

// finish is the last that the caller of a call does with it. One that was sent and
// is not answered stays until it is, and keeps its place.
func (w *instance) finish(p *pending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.took = time.Since(p.began)
	w.brisk = p.answered && p.took < quick
	switch {
	case p.given:
	case p.answered, p.lost, p.sent == queued:
		w.leave(p)
		p.reusable = p.answered && p.sent == written
	default:
		w.give(p)
		w.rest()
	}
}

// leave forgets a call, and lets another have its place.
func (w *instance) leave(p *pending) {
	if w.calls[p.number] != p {
		return
	}
	delete(w.calls, p.number)
	if p.given {
		w.givenUp--
	}
	if p == w.hung {
		w.hung = nil
	}
	w.free <- struct{}{}
	w.rest()
}

// rest tells when nobody waits for a condemned worker any more.
func (w *instance) rest() {
	if w.condemned && len(w.calls) == w.givenUp {
		closeOnce(w.idle)
	}
}

// nextGiven is the call whose turn has come if its caller is gone; else nil.
func (w *instance) nextGiven() *pending {
	if w.givenUp == 0 || !w.inOrder {
		return nil
	}
	if next := w.head(); next != nil && next.given {
		return next
	}
	return nil
}

// abandon tells every running call that no answer will come.
func (w *instance) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	first := w.head()
	for _, p := range w.calls {
		p.lose(p.sent != queued && (p == first || !w.inOrder))
	}
}

func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// debugFrame tells a frame with the beginning of its body.
func (w *instance) debugFrame(way string, f wire.Frame, body ...[]byte) {
	if !w.cfg.DebugWire {
		return
	}
	const shown = 200
	size := 0
	var text []byte
	for _, part := range body {
		size += len(part)
		text = append(text, part[:min(len(part), max(0, shown-len(text)))]...)
	}
	w.cfg.Debug("wire", fmt.Sprintf("%s %c call %d, %d bytes: %s", way, f.Type, f.Call, size, text))
}
