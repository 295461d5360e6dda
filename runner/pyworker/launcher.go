package pyworker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/wire"
)

// helloLimit is how long a Python may take to run the worker's first line.
const helloLimit = 30 * time.Second

// Config says what a [Launcher] starts. It is copied and never written to.
type Config struct {
	// Python is the absolute, unresolved path of the interpreter.
	Python string
	// Plugin is the absolute path of the file or package directory.
	Plugin string
	// Env is the whole environment, Dir the working directory, empty: ours.
	Env []string
	Dir string
	// NaN says what a NaN or an infinity in a result becomes: "error", the
	// default, "null" or "literal".
	NaN string
	// Probe names the hook that tells health; empty: "health" if there is one.
	Probe string
	// Concurrency is how many calls one worker takes at once; 0 means 1.
	Concurrency int
	// StartTimeout bounds the import; 0 means 10 minutes.
	StartTimeout time.Duration
	// StopTimeout runs from the first signal of the stop ladder to the kill;
	// 0 means 5 s.
	StopTimeout time.Duration
	// Output receives what the plugin prints, a line at a time; nil discards
	// it. It is never called by two goroutines at once.
	Output func(stream, text string, cut int)
	// Debug receives what happens, for a developer; nil: nothing is told.
	// The areas are "wire", each frame, only with DebugWire, and "proc".
	Debug     func(area, text string)
	DebugWire bool
}

// Launcher starts workers for one functions file.
type Launcher struct {
	cfg Config
}

var _ hook.Launcher = (*Launcher)(nil)

// New returns a launcher. It starts nothing.
func New(cfg Config) *Launcher {
	if cfg.NaN == "" {
		cfg.NaN = "error"
	}
	if cfg.Concurrency < 1 {
		cfg.Concurrency = 1
	}
	if cfg.StartTimeout <= 0 {
		cfg.StartTimeout = 10 * time.Minute
	}
	if cfg.StopTimeout <= 0 {
		cfg.StopTimeout = 5 * time.Second
	}
	if cfg.Output == nil {
		cfg.Output = func(string, string, int) {}
	}
	if cfg.Debug == nil {
		cfg.Debug = func(string, string) {}
	}
	return &Launcher{cfg: cfg}
}

// Close does nothing: a launcher keeps nothing between launches.
func (l *Launcher) Close(context.Context) error { return nil }

// Launch starts one worker and returns it when the file is loaded. See
// [hook.Launcher] for the promises. The kinds are Interpreter when Python did
// not come as far as the worker, Start when the file did not load.
func (l *Launcher) Launch(ctx context.Context) (hook.Instance, error) {
	dir, err := install()
	if err != nil {
		return nil, &hook.Error{Kind: hook.Start, Err: &hook.PlaceError{Err: err}}
	}
	started := time.Now()
	p, err := proc.Start(l.spec(dir))
	if err != nil {
		kind := hook.Interpreter
		if exhausted(err) {
			kind = hook.Start
		}
		return nil, &hook.Error{Kind: kind, Err: err}
	}
	l.cfg.Debug("proc", fmt.Sprintf("started %s, pid %d", l.cfg.Python, p.PID()))
	w := newInstance(l.cfg, p)
	if err := w.start(ctx, started); err != nil {
		return nil, err
	}
	return w, nil
}

// spec says how a worker is started whose files are in dir.
func (l *Launcher) spec(dir string) proc.Spec {
	return proc.Spec{
		Path: l.cfg.Python,
		Args: []string{"-c", boot, dir, l.cfg.Plugin, strconv.Itoa(stackSignal)},
		Env:  l.cfg.Env,
		Dir:  l.cfg.Dir,
		Talk: true,
		OnLine: func(line proc.Line) {
			if !ownFrame(line.Text) {
				l.cfg.Output(line.Stream.String(), line.Text, line.Cut)
			}
		},
		StackSignal: stackSignal,
		Grace:       l.cfg.StopTimeout,
	}
}

// exhausted tells whether it is the system that has no room for a process.
func exhausted(err error) bool {
	for _, full := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM} {
		if errors.Is(err, full) {
			return true
		}
	}
	return false
}

// hello is the body of the worker's first frame.
type hello struct {
	Wire           int    `json:"wire"`
	Python         string `json:"python"`
	Implementation string `json:"implementation"`
	PID            int    `json:"pid"`
}

// start sends load and waits until the worker is ready. On error nothing of it
// is left.
func (w *instance) start(ctx context.Context, started time.Time) *hook.Error {
	load, err := json.Marshal(map[string]string{"nan": w.cfg.NaN, "probe": w.cfg.Probe})
	if err != nil {
		panic(err) // strings always marshal
	}
	_ = w.send(wire.Load, 0, load) // a worker that is gone is told by its exit
	go w.read()

	limit := min(helloLimit, w.cfg.StartTimeout)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case w.info = <-w.greeted:
	case f := <-w.ready: // no hello: too old, or not our worker
		return w.failStart(ctx, f)
	case <-w.lost:
		return w.diedStarting(false)
	case <-timer.C:
		return w.slowStart(limit, "python did not start")
	case <-ctx.Done():
		return w.canceledStart(ctx)
	}
	w.cfg.Debug("proc", fmt.Sprintf("hello from python %s after %s", w.info.Python, time.Since(started)))
	timer.Reset(max(0, w.cfg.StartTimeout-time.Since(started)))
	select {
	case f := <-w.ready:
		if f.Type != wire.Ready {
			return w.failStart(ctx, f)
		}
	case <-w.lost:
		return w.diedStarting(true)
	case <-timer.C:
		return w.slowStart(w.cfg.StartTimeout, "the import did not end")
	case <-ctx.Done():
		return w.canceledStart(ctx)
	}
	w.info.Started, w.info.Ready = started, time.Since(started)
	w.cfg.Debug("proc", fmt.Sprintf("ready after %s", w.info.Ready))
	return nil
}

// failStart tells what the worker answered instead of ready.
func (w *instance) failStart(ctx context.Context, f wire.Frame) *hook.Error {
	// The worker ends by itself, and is not hurried while it does.
	w.stop(ctx, func(context.Context) {})
	exit := w.Exit()
	a, err := readAnswer(f)
	if err != nil {
		return w.broken(err, exit)
	}
	if a.Reason == "old" {
		return &hook.Error{Kind: hook.Interpreter,
			Err: fmt.Errorf("%s at %s is too old, want 3.8 or later", a.Message, w.cfg.Python)}
	}
	e := &hook.Error{Kind: hook.Start, Python: a.raised()}
	if e.Python == nil {
		e.Err = errors.New(a.Message)
	}
	if a.Missing != "" {
		e.Err = &schema.MissingModuleError{Module: a.Missing, Text: e.Python.Headline()}
	}
	return e
}

// diedStarting tells of a process that ended before it was ready. Before hello
// it was Python itself, or the environment, that failed.
func (w *instance) diedStarting(greeted bool) *hook.Error {
	exit := w.Exit()
	if w.fault != nil {
		return w.broken(w.fault, exit)
	}
	if !greeted {
		return &hook.Error{Kind: hook.Interpreter, Exit: &exit,
			Err: fmt.Errorf("%s ended before it ran the plugin", w.cfg.Python)}
	}
	return &hook.Error{Kind: hook.Start, Exit: &exit, At: stackFrames(exit.Stderr),
		Err: errors.New("the plugin ended while it was imported")}
}

func (w *instance) slowStart(limit time.Duration, what string) *hook.Error {
	exit := hook.Exit(w.proc.Kill())
	return &hook.Error{Kind: hook.Start, At: stackFrames(exit.Stacks),
		Err: &hook.LimitError{What: what, Limit: limit}}
}

func (w *instance) canceledStart(ctx context.Context) *hook.Error {
	exit := hook.Exit(w.proc.Kill())
	return &hook.Error{Kind: hook.Canceled, At: stackFrames(exit.Stacks), Err: context.Cause(ctx)}
}

// broken tells of a worker that does not speak the protocol.
func (w *instance) broken(err error, exit hook.Exit) *hook.Error {
	return &hook.Error{Kind: hook.Start, Exit: &exit, Err: fmt.Errorf("the worker's pipe: %w", err)}
}
