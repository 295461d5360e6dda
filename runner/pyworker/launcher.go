package pyworker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
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
	// Threads runs the plain functions of one worker in threads, up to
	// Concurrency at once; else they run one after the other, in the order of
	// the calls, and only coroutines at once. The plugin must bear it.
	Threads bool
	// StartTimeout bounds the import; 0 means 10 minutes.
	StartTimeout time.Duration
	// StopTimeout runs from the first signal of the stop ladder to the kill;
	// 0 means 5 s.
	StopTimeout time.Duration
	// Limits bound what a worker and all that it starts take.
	Limits proc.Limits
	// Preload says whether workers are forked from a process that has imported the
	// plugin: "off" or empty, never; "auto", when that is safe; "force", whenever
	// it is possible. Only Linux can.
	Preload string
	// Note receives once why workers are not forked although Preload asks for it;
	// nil discards it.
	Note func(text string)
	// Output receives what the plugin prints, a line at a time; nil discards
	// it. It is never called by two goroutines at once.
	Output func(stream, text string, cut int)
	// Debug receives what happens, for a developer; nil: nothing is told.
	// The areas are "wire", each frame, only with DebugWire, and "proc".
	Debug     func(area, text string)
	DebugWire bool
}

// Launcher starts workers for one functions file. It is safe for concurrent use.
type Launcher struct {
	cfg     Config
	nursery nursery
	started atomic.Bool // the plugin was imported once
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
	cfg.Output = oneByOne(cfg.Output)
	if cfg.Debug == nil {
		cfg.Debug = func(string, string) {}
	}
	if cfg.Note == nil {
		cfg.Note = func(string) {}
	}
	l := &Launcher{cfg: cfg}
	l.nursery.turn = make(chan struct{}, 1)
	l.nursery.turn <- struct{}{}
	l.nursery.live()
	return l
}

// oneByOne lets output be called by one goroutine at a time, whichever process the
// line is from.
func oneByOne(output func(stream, text string, cut int)) func(stream, text string, cut int) {
	if output == nil {
		return func(string, string, int) {}
	}
	var mu sync.Mutex
	return func(stream, text string, cut int) {
		mu.Lock()
		defer mu.Unlock()
		output(stream, text, cut)
	}
}

// Close ends the process that workers are forked from, if there is one. Workers
// that live are not touched, and the next launch begins anew. It waits for a
// launch under way, and the error says that ctx ended before.
func (l *Launcher) Close(ctx context.Context) error {
	l.nursery.live()
	select {
	case <-l.nursery.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.retire()
	l.nursery.turn <- struct{}{}
	return nil
}

// Launch starts one worker and returns it when the file is loaded. See
// [hook.Launcher] for the promises. The kinds are Interpreter when Python did
// not come as far as the worker, Start when the file did not load.
func (l *Launcher) Launch(ctx context.Context) (hook.Instance, error) {
	w, err := l.launch(ctx)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (l *Launcher) launch(ctx context.Context) (w *instance, err *hook.Error) {
	switch {
	case l.nursery.byExec.Load() || l.cfg.Preload != "auto" && l.cfg.Preload != "force":
	case proc.CanFork():
		return l.preloaded(ctx)
	case l.cfg.Preload == "force":
		l.exec("it needs Linux 5.3 or later")
	}
	w, _, err = l.startPython(ctx, "")
	return w, err
}

// startPython starts a Python that imports the plugin, and returns it with what it
// says of itself: with preload it may be a zygote.
func (l *Launcher) startPython(ctx context.Context, preload string) (*instance, loaded, *hook.Error) {
	dir, err := install()
	if err != nil {
		return nil, loaded{}, &hook.Error{Kind: hook.Start, Err: &hook.PlaceError{Err: err}}
	}
	started := time.Now()
	spec := l.spec(dir)
	spec.Forks = preload != ""
	p, err := proc.Start(spec)
	if err != nil {
		kind := hook.Interpreter
		if exhausted(err) {
			kind = hook.Start
		}
		return nil, loaded{}, &hook.Error{Kind: kind, Err: err}
	}
	l.cfg.Debug("proc", fmt.Sprintf("started %s, pid %d", l.cfg.Python, p.PID()))
	w := newInstance(l.cfg, p)
	w.first = !l.started.Load()
	told, failed := w.start(ctx, started, preload)
	if failed != nil {
		return nil, loaded{}, failed
	}
	l.started.Store(true)
	return w, told, nil
}

// spec says how a worker is started whose files are in dir.
func (l *Launcher) spec(dir string) proc.Spec {
	var frames [2]trimmer // of each stream
	return proc.Spec{
		Path: l.cfg.Python,
		Args: []string{"-c", boot, dir, l.cfg.Plugin, strconv.Itoa(stackSignal)},
		Env:  l.cfg.Env,
		Dir:  l.cfg.Dir,
		Talk: true,
		OnLine: func(line proc.Line) {
			if !frames[line.Stream].drops(line.Text) {
				l.cfg.Output(line.Stream.String(), line.Text, line.Cut)
			}
		},
		StackSignal: stackSignal,
		Grace:       l.cfg.StopTimeout,
		Limits:      l.cfg.Limits,
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

// load is the body of the first frame.
func (c Config) load(preload string) map[string]string {
	load := map[string]string{"nan": c.NaN, "probe": c.Probe}
	if preload != "" {
		load["preload"] = preload
	}
	switch {
	case c.Threads:
		load["calls"] = "threads"
	case c.Concurrency > 1:
		load["calls"] = "ahead"
	}
	return load
}

// loaded is the body of ready, the answer to load.
type loaded struct {
	Zygote bool   `json:"zygote"` // it is there to be forked
	Exec   string `json:"exec"`   // why it is not, though load asked for it
}

// start sends load and waits until the worker is ready. On error nothing of it
// is left.
func (w *instance) start(ctx context.Context, started time.Time, preload string) (told loaded, failed *hook.Error) {
	load, err := json.Marshal(w.cfg.load(preload))
	if err != nil {
		panic(err) // strings always marshal
	}
	_ = w.send(wire.Load, 0, load) // a worker that is gone is told by its exit
	go w.read()

	if failed := w.awaitHello(ctx, min(helloLimit, w.cfg.StartTimeout)); failed != nil {
		return told, failed
	}
	w.cfg.Debug("proc", fmt.Sprintf("hello from python %s after %s", w.info.Python, time.Since(started)))
	f, failed := w.awaitReady(ctx, w.cfg.StartTimeout-time.Since(started))
	if failed != nil {
		return told, failed
	}
	if err := json.Unmarshal(f.Body, &told); err != nil {
		w.proc.Kill()
		return told, w.broken(fmt.Errorf("ready: %w", err), w.Exit())
	}
	w.info.Started, w.info.Ready = started, time.Since(started)
	w.cfg.Debug("proc", fmt.Sprintf("ready after %s", w.info.Ready))
	return told, nil
}

// awaitHello waits for the worker's first frame. What comes after it may have come
// as well by the time that we look.
func (w *instance) awaitHello(ctx context.Context, limit time.Duration) *hook.Error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case w.info = <-w.greeted:
	case f := <-w.ready:
		if !w.greet() { // too old, or not our worker
			return w.failStart(ctx, f)
		}
		w.ready <- f // there is but one
	case <-w.lost:
		if w.greet() {
			return nil
		}
		if f, ok := w.answer(); ok {
			return w.failStart(ctx, f)
		}
		return w.diedStarting(false)
	case <-timer.C:
		return w.slowStart(limit, "python did not start")
	case <-ctx.Done():
		return w.canceledStart(ctx)
	}
	return nil
}

// awaitReady waits for the answer to load.
func (w *instance) awaitReady(ctx context.Context, limit time.Duration) (f wire.Frame, failed *hook.Error) {
	timer := time.NewTimer(max(0, limit))
	defer timer.Stop()
	select {
	case f = <-w.ready:
	case <-w.lost:
		ok := false
		if f, ok = w.answer(); !ok {
			return f, w.diedStarting(true)
		}
	case <-timer.C:
		return f, w.slowStart(w.cfg.StartTimeout, "the import did not end")
	case <-ctx.Done():
		return f, w.canceledStart(ctx)
	}
	if f.Type != wire.Ready {
		return f, w.failStart(ctx, f)
	}
	return f, nil
}

// greet tells whether hello has come, and takes it.
func (w *instance) greet() bool {
	select {
	case w.info = <-w.greeted:
		return true
	default:
		return false
	}
}

// answer is the answer to load, if one had come when the worker ended.
func (w *instance) answer() (f wire.Frame, ok bool) {
	select {
	case f = <-w.ready:
		return f, true
	default:
		return f, false
	}
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

// canceledStart gives a start up. Whoever waits for the first one is told where the
// import was; a later one is given up because nobody needs it any more.
func (w *instance) canceledStart(ctx context.Context) *hook.Error {
	e := &hook.Error{Kind: hook.Canceled, Err: context.Cause(ctx)}
	if w.first {
		e.At = stackFrames(w.proc.Kill().Stacks)
	} else {
		w.stop(ctx, nil)
	}
	return e
}

// broken tells of a worker that does not speak the protocol.
func (w *instance) broken(err error, exit hook.Exit) *hook.Error {
	return &hook.Error{Kind: hook.Start, Exit: &exit, Err: fmt.Errorf("the worker's pipe: %w", err)}
}
