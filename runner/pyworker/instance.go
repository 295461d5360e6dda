package pyworker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

// instance is one worker.
type instance struct {
	launcher  *Launcher
	proc      *proc.Process
	began     time.Time     // when its start began
	ready     time.Duration // how long the start took
	about     about         // the worker's report on its start
	startup   chan frame    // hello, then the answer to load
	awaited   string        // the types of frames that may come next in a start; only the reader uses it
	lost      chan struct{} // closed when the process is gone and no frame will come
	fault     error         // why the pipe can no longer be trusted; valid after lost is closed
	mainEnded bool          // the main thread ended by itself; valid when the calls are done
	slots     chan struct{} // holds a token for each call that may begin

	stopping atomic.Bool // the stop ladder has begun
	forced   atomic.Bool // the process was killed without the whole ladder

	mu          sync.Mutex // protects the following
	queue       []outgoing // frames to write
	queued      sync.Cond  // signals that the queue has frames, or that over is set
	calls       []*call    // the unanswered calls, in the order in which they were sent
	last        uint32     // the number of the newest call
	terminating bool       // no call may begin, and the process will be killed
	over        bool       // no answer will come
	serial      bool       // the first series was announced to the worker
}

var _ hook.Instance = (*instance)(nil)

func newInstance(l *Launcher, p *proc.Process, began time.Time) *instance {
	inst := &instance{
		launcher: l,
		proc:     p,
		began:    began,
		startup:  make(chan frame, 2),
		awaited:  string([]byte{frameSource, frameHello, frameError}),
		lost:     make(chan struct{}),
		slots:    make(chan struct{}, l.cfg.Concurrency),
	}
	inst.queued.L = &inst.mu
	for range l.cfg.Concurrency {
		inst.slots <- struct{}{}
	}
	return inst
}

func (inst *instance) Concurrency() int      { return inst.launcher.cfg.Concurrency }
func (inst *instance) Done() <-chan struct{} { return inst.proc.Done() }
func (inst *instance) Info() hook.Info {
	return hook.Info{PID: inst.about.PID, Python: inst.about.Python, Started: inst.began, Ready: inst.ready}
}

// Exit describes how the process ended. It omits the worker's own frames from the
// stacks that Python wrote.
func (inst *instance) Exit() hook.Exit {
	exit := hook.Exit(inst.proc.Exit())
	exit.Stderr, exit.Stacks = trimmed(exit.Stderr), trimmed(exit.Stacks)
	return exit
}

// Stop asks the worker to exit as a Python program exits, then walks the stop ladder.
// If the worker had to be killed, Stop returns an error of kind Timeout.
func (inst *instance) Stop(ctx context.Context) error {
	inst.stop(ctx, func(context.Context) bool {
		inst.post(newFrame(frameQuit, 0))
		return true
	})
	<-inst.lost
	exit := inst.Exit()
	inst.launcher.cfg.Debug("proc", fmt.Sprintf("pid %d ended: code %d %s, after %s", inst.proc.PID(), exit.Code, exit.Signal, exit.Uptime))
	if ctx.Err() != nil {
		inst.forced.Store(true)
	}
	if exit.Step == "SIGKILL" && !inst.isTerminating() && !inst.forced.Load() {
		return &hook.Error{Kind: hook.Timeout, At: stackFrames(exit.Stacks),
			Err: &hook.LimitError{What: "the plugin did not exit", Limit: inst.launcher.cfg.StopTimeout}}
	}
	return nil
}

// stop walks the stop ladder. First it sets stopping, because the ladder closes the
// connection, and the reader must not kill the process then.
func (inst *instance) stop(ctx context.Context, ask func(context.Context) bool) {
	inst.stopping.Store(true)
	inst.proc.Stop(ctx, ask)
}

// kill stops an unused instance at once.
func (inst *instance) kill() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	inst.stop(now, nil)
	<-inst.lost
}

// Crash kills the process as if something outside pyplug did so. It returns
// [os.ErrProcessDone] if the process is gone.
func (inst *instance) Crash() error { return inst.proc.Crash() }

func (inst *instance) isTerminating() bool {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	return inst.terminating
}

// Describe describes the hooks, or one of them.
func (inst *instance) Describe(ctx context.Context, q schema.Query) (s schema.Schema, err error) {
	c := newCall(q.Hook)
	query, _ := json.Marshal(q) // cannot fail
	c.frame = append(c.frame, query...)
	f, failed := inst.ask(ctx, frameDescribe, c)
	if failed != nil {
		return s, failed
	}
	if err := json.Unmarshal(f.body, &s); err != nil {
		return s, &hook.Error{Kind: hook.Internal, Err: fmt.Errorf("the worker's description: %w", err)}
	}
	return s, nil
}

// Health calls Probe. A functions file without a health function is healthy while it
// runs.
func (inst *instance) Health(ctx context.Context) error { return inst.Probe(ctx) }

// Stack returns where the main thread is.
func (inst *instance) Stack() []hook.Frame { return stackFrames(inst.proc.Stacks()) }

// Attach returns nil, because no other host can speak to the worker.
func (inst *instance) Attach() json.RawMessage { return nil }

// Probe calls the plugin's own health function. A busy worker counts as healthy, because
// its calls have timeouts of their own. If the function times out, it is interrupted.
// Probe then returns an error of kind Timeout. The worker is not terminated even if it does
// not answer, and further probes wait until it does.
func (inst *instance) Probe(ctx context.Context) error {
	if len(inst.slots) == 0 && inst.isBusy() {
		return inst.endWithoutMain()
	}
	c := newCall(inst.launcher.cfg.Probe)
	c.probe = true
	f, err := inst.ask(ctx, frameProbe, c)
	if err != nil {
		if err.Kind == hook.Failed || err.Kind == hook.Request {
			err.Kind = hook.Unhealthy
		}
		return err
	}
	var verdict struct {
		Degraded string `json:"degraded"`
	}
	if err := json.Unmarshal(f.body, &verdict); err != nil {
		return &hook.Error{Kind: hook.Internal, Err: fmt.Errorf("the worker's health: %w", err)}
	}
	if verdict.Degraded != "" {
		return &hook.Error{Kind: hook.Unhealthy, Err: errors.New(verdict.Degraded)}
	}
	return nil
}

// endWithoutMain kills a worker whose main thread has ended, for example in a C function. Such a
// worker cannot answer calls. Only other threads keep it alive.
func (inst *instance) endWithoutMain() error {
	if !inst.proc.MainExited() || hook.Within(inst.proc.Done(), closeLimit) {
		return nil
	}
	_ = inst.proc.Crash() // its calls fail as in any other crash
	return &hook.Error{Kind: hook.Crash, Err: errors.New("the plugin's main thread has ended")}
}

// isBusy reports whether the worker runs a call whose caller still waits, or is about to get a
// call. Abandoned calls do not count, because no timeout bounds them any more.
func (inst *instance) isBusy() bool {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	return !inst.over && (len(inst.calls) == 0 || slices.ContainsFunc(inst.calls, func(c *call) bool { return !c.abandoned }))
}
