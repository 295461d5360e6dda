package pyworker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

// drainLimit is how long the other calls of a condemned worker may go on.
const drainLimit = 5 * time.Second

var (
	// errCondemned answers calls that come after a worker was condemned.
	errCondemned = errors.New("the worker did not answer for an earlier call and is being stopped")
	errClosed    = errors.New("the plugin closed it")
)

// instance is one worker. The goroutine in read owns the reading end; all else
// is behind mu.
type instance struct {
	cfg  Config
	proc *proc.Process
	info hook.Info

	greeted chan hook.Info  // what hello said
	ready   chan wire.Frame // ready, or the error that came instead
	lost    chan struct{}   // closed when no frame will come any more
	fault   error           // why reading ended, if not by the end; valid after lost
	free    chan struct{}   // holds a token for each call that may still begin

	stopping atomic.Bool // the stop ladder has begun
	hurried  atomic.Bool // somebody had no time for the ladder

	writing sync.Mutex // held while a frame is written

	mu        sync.Mutex // protects following
	calls     map[uint32]*pending
	last      uint32 // number of the newest call
	condemned bool
	over      bool                   // no answer comes any more
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
		free:    make(chan struct{}, cfg.Concurrency),
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
	exit.Stderr = slices.DeleteFunc(slices.Clone(exit.Stderr), ownFrame)
	exit.Stacks = slices.DeleteFunc(slices.Clone(exit.Stacks), ownFrame)
	return exit
}

// Stop asks the worker to end as a Python program ends, then walks the ladder.
// The error, of kind Timeout, says that it had to be killed.
func (w *instance) Stop(ctx context.Context) error {
	w.stop(ctx, func(context.Context) { _ = w.send(wire.Quit, 0) })
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
	body := []byte("null")
	if name != "" {
		body, _ = json.Marshal(name) // a string always marshals
	}
	f, herr := w.ask(ctx, wire.Describe, body, &pending{hook: name})
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
// call is not asked: it is alive, and its call has a limit of its own.
func (w *instance) Probe(ctx context.Context) error {
	select {
	case token := <-w.free:
		w.free <- token
	default:
		return nil
	}
	f, err := w.ask(ctx, wire.Probe, nil, &pending{hook: w.cfg.Probe})
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

// send writes one frame.
func (w *instance) send(t wire.Type, call uint32, body ...[]byte) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.debugFrame("to worker", wire.Frame{Type: t, Call: call}, body...)
	_, err := w.proc.Conn().Write(wire.Append(nil, t, call, body...))
	return err
}

// read hands each frame to whom it is for, until no more comes. It ends when
// the process is gone, at the latest.
func (w *instance) read() {
	defer close(w.lost)
	r := wire.NewReader(w.proc.Conn(), 0)
	for {
		f, err := r.Next()
		if err == nil {
			w.debugFrame("from worker", f, f.Body)
			err = w.deliver(f)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !gone(w.proc) {
			w.fault = err
		}
		w.waitGone()
		w.abandon()
		return
	}
}

// waitGone returns when the process is gone. A closed pipe is no death: a
// worker that lost its pipe and lives cannot be spoken to, and is killed.
func (w *instance) waitGone() {
	select {
	case <-w.proc.Done():
		return
	case <-time.After(time.Second):
	}
	if w.stopping.Load() {
		<-w.proc.Done() // the ladder bounds it
		return
	}
	w.mu.Lock()
	if w.fault == nil && !w.condemned {
		w.fault = errClosed
	}
	w.mu.Unlock()
	w.hurried.Store(true)
	w.proc.Kill()
}

func gone(p *proc.Process) bool {
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}

// deliver hands one frame on. An error means that the worker cannot be trusted.
func (w *instance) deliver(f wire.Frame) error {
	switch f.Type {
	case wire.Hello:
		var h hello
		if err := json.Unmarshal(f.Body, &h); err != nil {
			return fmt.Errorf("hello: %w", err)
		}
		if h.Wire != wire.Version {
			return fmt.Errorf("hello: wire version %d, want %d", h.Wire, wire.Version)
		}
		select {
		case w.greeted <- hook.Info{PID: h.PID, Python: h.Python}:
			return nil
		default:
			return errors.New("a second hello")
		}
	case wire.Ready:
		return w.answerStart(f)
	case wire.Error:
		if f.Call == 0 {
			return w.answerStart(f)
		}
	case wire.Result, wire.Bytes, wire.Item, wire.End:
	default:
		return fmt.Errorf("a frame of type %c, which only pyplug sends", f.Type)
	}
	w.mu.Lock()
	p, condemned := w.calls[f.Call], w.condemned
	w.mu.Unlock()
	if p == nil && condemned {
		return nil // the answer that came too late
	}
	if p == nil {
		return fmt.Errorf("an answer for call %d, which is not running", f.Call)
	}
	return p.take(f)
}

func (w *instance) answerStart(f wire.Frame) error {
	select {
	case w.ready <- f:
		return nil
	default:
		return errors.New("a second answer to load")
	}
}

// begin enters a call, so that its answer finds it.
func (w *instance) begin(p *pending) (uint32, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.condemned {
		return 0, errCondemned
	}
	if w.over {
		return 0, errEnded
	}
	w.last++
	if w.last == 0 { // 0 is the worker itself
		w.last++
	}
	w.calls[w.last] = p
	return w.last, nil
}

// finish forgets a call.
func (w *instance) finish(number uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, number)
	if w.condemned && len(w.calls) == 0 {
		closeOnce(w.idle)
	}
}

// abandon tells every running call that no answer will come.
func (w *instance) abandon() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	for _, p := range w.calls {
		p.lose()
	}
}

// condemn lets no new call begin, gives the others 5 s, and kills the worker.
// It returns at once when others run, else when the process is gone.
func (w *instance) condemn(number uint32) {
	w.mu.Lock()
	first := !w.condemned
	w.condemned = true
	others := len(w.calls)
	if w.calls[number] != nil {
		others--
	}
	w.mu.Unlock()
	if others == 0 {
		w.proc.Kill()
		return
	}
	if first {
		go func() { // ends by itself within drainLimit
			select {
			case <-w.idle:
			case <-w.proc.Done():
			case <-time.After(drainLimit):
			}
			w.proc.Kill()
		}()
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
