package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/daemon/access"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/metrics"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// autoIdle is how long a plugin that was started by a call may be without calls before it stops.
const autoIdle = 15 * time.Minute

// defaultDrain is how long calls are still accepted over TCP after a stop has begun.
const defaultDrain = 5 * time.Second

// Options say which plugin is kept under a name, and how.
type Options struct {
	Config plan.Config
	// Name is the name as typed, or empty to derive it from the plugin.
	Name string
	// AutoStarted says that a call started the plugin. It stops when it is idle.
	AutoStarted bool
	// Detached says that the plugin runs in the background.
	Detached bool
	// Access says where to listen over TCP, and who may call.
	Access access.Options
	// Version is the version of this pyplug.
	Version string
	// Starter is the process that waits for the plugin, or nil.
	Starter *daemon.Starter
	// When Kill ends, a stop kills the plugin at once.
	Kill context.Context
	// Hangups is the channel of [Hangups].
	Hangups <-chan struct{}
}

// Reporter reports to the user of the surrounding process. Its methods may block.
type Reporter interface {
	// Warn reports an error that does not end the service.
	Warn(err error)
	// Log reports a line that pyplug itself adds to the log of the plugin with that name.
	Log(name, text string)
	// Attach reports how to attach to a new worker. After an error it is not called again.
	Attach(ctx context.Context, line string) error
}

// Service is a plugin that is kept running under a name. Create one with [New]. While [Service.Run]
// runs, its other methods are safe for concurrent use.
type Service struct {
	*runner.Keeper // nil until Start
	o              Options
	to             Reporter
	attachEnded    bool // Attach failed
	name           string
	access         *access.Access  // nil if it does not listen over TCP
	mcp            *mcp.Server     // nil if it does not listen over TCP
	server         *daemon.Server  // nil until it has its name
	transitions    chan hook.Event // the transitions to report
	dropped        atomic.Int64    // number of transitions that are not reported
	endReports     func()          // waits until the transitions are reported; the plugin must be gone
	notifyStopping func()          // tells the service manager once that a stop has begun, or nil

	calls      metrics.Calls
	changes    changes
	failures   failures     // counts failed calls for the log
	generation atomic.Int64 // the newest generation
	ready      atomic.Bool  // the plugin was ready: errors are now errors of calls
}

var _ hook.Plugin = (*Service)(nil)

// New prepares a service.
func New(o Options, to Reporter) *Service { return &Service{o: o, to: to} }

// OpenConfig returns the configuration with which the plugin must be opened. The plugin's output
// must be passed to [Service.Printed], too.
func (s *Service) OpenConfig() plan.Config {
	c := s.o.Config
	c.Environ = withoutManager(c.Environ)
	events := c.Events
	c.Note, c.Await = s.note, s.awaitHealthy
	c.Events = func(e hook.Event) {
		events(e)
		s.event(e)
	}
	return c
}

// Start acquires the name and starts the plugin, which was opened with [Service.OpenConfig]. If the
// start fails, Start returns its error, and nothing is left.
func (s *Service) Start(ctx context.Context, k *runner.Keeper) error {
	s.Keeper = k
	s.startReports()
	starting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := s.listen(starting, cancel)
	if err == nil {
		err = k.Start(starting)
	}
	if err != nil {
		s.endReports() // before the log is closed
		if s.server != nil {
			s.logDetails(hook.AsError(err))
			s.server.Fail(err) // reports the error to all who wait for the start
		}
	}
	return err
}

// listen acquires the name before the plugin starts. cancel ends the start.
func (s *Service) listen(ctx context.Context, cancel context.CancelCauseFunc) error {
	if !s.o.Detached && s.Program().MTLS {
		return NoAttachError()
	}
	seen, err := s.Snapshot(ctx)
	if err != nil {
		return err
	}
	s.changes.started, s.changes.loaded = seen, seen
	opts := daemon.Options{
		Starter: s.o.Starter, Complete: s.complete, Notes: func() []string { return s.notes(0) },
		CallTimeout: s.Keeper.Config.Timeouts.Call, Series: s.TakesSeries(), Kill: s.o.Kill,
		Drain: s.Keeper.Config.Drain, Metrics: s.metrics, Locate: func(calls []hook.RunningCall) { s.Locate(calls) },
		LimitClose: func(calls time.Duration) { s.LimitClose(calls) },
	}
	if !s.o.Detached {
		opts.Echo = func(text string) { s.to.Log(s.name, text) }
	}
	if s.o.AutoStarted {
		opts.IdleExit = autoIdle
	}
	if len(s.o.Access.Listen) > 0 {
		if s.access, err = access.Open(ctx, s.o.Access, s.logOwn); err != nil {
			return err
		}
		s.mcp = s.newMCP()
		opts.Access, opts.MCP, opts.Drain = s.access, s.mcp, cmp.Or(opts.Drain, defaultDrain)
	}
	for _, s.name = range namesOf(s.Keeper, s.o.Name) {
		if s.server, err = daemon.Listen(identity(s.Keeper, s.o, s.name), opts); !daemon.Is(err, daemon.Taken) {
			break
		}
	}
	if err != nil {
		if s.access != nil {
			s.access.Close()
		}
		return err
	}
	s.logOwn(fmt.Sprintf("pyplug %s (pid %d) starts %s", s.o.Version, os.Getpid(), s.Plugin.Entry))
	if s.server.Identity().Socket == "" {
		s.note("it serves over TCP alone: this system has no Unix sockets, so status, logs and stop do not find it")
	}
	stopping := s.server.Stopping()
	context.AfterFunc(stopping, func() { cancel(context.Cause(stopping)) })
	return nil
}

// Run serves the started plugin until ctx ends, a client stops it, or it is idle. In the foreground
// it also ends when the pool gives up. In the background it continues then, and reports that to
// callers.
//
// It returns an error if the pool gave up, or an error of kind Canceled if ctx ended and the plugin
// had to be killed. If ctx ended and the plugin stopped by itself, it returns nil.
func (s *Service) Run(ctx context.Context) error {
	defer s.endReports()
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var work sync.WaitGroup
	events := s.Events(running)
	if s.mcp != nil {
		defer context.AfterFunc(running, s.mcp.End)()
		defer context.AfterFunc(s.server.Stopping(), s.mcp.End)()
	}
	if s.o.Config.Watch == settings.On {
		work.Go(func() { s.Watch(running, s.changes.started, s.reload) })
	}
	work.Go(func() { s.followHangups(running) })
	serving, served := context.WithCancel(context.WithoutCancel(ctx)) // ends with Serve, which first waits for calls
	var gaveUp error
	s.ready.Store(true)
	if !s.o.Detached {
		s.notifyStopping = sync.OnceFunc(func() { s.notify("STOPPING=1\n" + statusLine(hook.StateStopping, "")) })
		s.notify("READY=1\n" + s.managerStatus())
		work.Go(func() { s.watchdog(serving) })
		work.Go(func() {
			failed := s.Failed()
			if s.o.Config.Watch == settings.On {
				failed = nil // the plugin starts again when its files change
			}
			select {
			case <-failed:
				gaveUp = gaveUpError(s.status())
				stop(cmp.Or(gaveUp, errExited))
			case <-running.Done():
			case <-s.server.Stopping().Done():
			}
			s.notifyStopping() // before the drain
		})
	}
	work.Go(debug.FreeOSMemory) // frees memory that only the start needed
	s.describe(running)
	work.Go(func() { s.followStarts(running, events) })
	err := s.server.Serve(running, s)
	served()
	stop(nil)
	work.Wait()
	if gaveUp != nil {
		s.notify(statusLine(hook.StateFailed, gaveUp.Error())) // the last status is the failure, not the stop
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		s.to.Warn(err)
	}
	switch {
	case ctx.Err() == nil: // a client stopped it, it was idle, or the pool gave up
		return gaveUp
	case err != nil:
		return hook.NewError(hook.Canceled, context.Cause(ctx))
	}
	return nil
}

// errExited is the reason why a service ends after its plugin has exited by itself.
var errExited = errors.New("the plugin exited with code 0, and is not restarted")

// gaveUpError returns the error of a plugin that is not started again. It is nil if the
// plugin exited with code 0 and the restart policy accepts that.
func gaveUpError(st hook.Status) error {
	if exit := st.LastExit; exit != nil && exit.Code == 0 && exit.Signal == "" && st.State == hook.StateStopped {
		return nil
	}
	return &hook.Error{Kind: hook.Unavailable, Exit: st.LastExit, Err: errors.New("gave up restarting the plugin")}
}

// Call calls one hook. The result includes notes for the caller.
func (s *Service) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	began := time.Now()
	r, err := s.Pool.Call(ctx, c)
	s.calls.Observe(c.Hook, hook.AsError(err), time.Since(began))
	if err != nil {
		s.callFailed(c.Hook, err)
		return r, err
	}
	r.Notes = append(r.Notes, s.notes(noteAge)...)
	return r, nil
}

// CallSeries makes calls in one worker, in order.
func (s *Service) CallSeries(ctx context.Context, calls *hook.Series) {
	own, began := *calls, time.Now()
	own.Answered = func(r hook.Result, err *hook.Error) {
		now := time.Now()
		s.calls.Observe(calls.Calls[0].Hook, err, now.Sub(began))
		if began = now; err != nil {
			s.callFailed(calls.Calls[0].Hook, err)
		}
		calls.Answer(r, err)
	}
	own.HandedBack = calls.HandBack
	s.Pool.CallSeries(ctx, &own)
}

// Status returns the plugin's status and how to attach to it.
func (s *Service) Status(ctx context.Context) (hook.Status, error) {
	st, err := s.Pool.Status(ctx)
	st.Attach, st.Memory, st.CPU = s.attach(st), s.Memory(), hook.Milliseconds(s.CPU())
	st.Hooks, st.Settings = s.calls.Hooks(), s.Keeper.Config.Settings.Changed()
	if st.Note == "" && st.Reason == "" {
		st.Note = strings.Join(s.notes(noteAge), "")
	}
	return st, err
}

// status returns the pool's status, which never fails.
func (s *Service) status() hook.Status {
	st, _ := s.Pool.Status(context.Background())
	return st
}

// Restart replaces the workers with workers that load the current files.
func (s *Service) Restart(ctx context.Context, reason string) error {
	now, err := s.Reload(ctx, reason)
	if err != nil {
		return err
	}
	s.changes.load(now)
	s.describe(ctx) // before the first call
	return nil
}

// Close drains and stops the plugin, and writes its end to the log. It returns an error if the
// plugin was killed.
func (s *Service) Close(ctx context.Context) error {
	if s.notifyStopping != nil {
		s.notifyStopping() // before the transitions of the stop
	}
	err := s.Keeper.Close(ctx)
	s.endFailures() // before the log is closed
	s.endReports()
	return cmp.Or(err, ctx.Err())
}

// describeLimit is how long a ready worker may take to describe its hooks.
const describeLimit = 2 * time.Second

// describe caches the hooks of a functions file before its worker is busy. Such a worker does one
// thing at a time. With the cache, clients get the hooks even while a call runs.
func (s *Service) describe(ctx context.Context) {
	if s.Transport().Serves {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	all, _ := s.Hooks(ctx, schema.Query{}) // a client that requests them gets the error
	for _, h := range all.Hooks {
		_, _ = s.Hooks(ctx, schema.Query{Hook: h.Name})
	}
	_, _ = s.Hooks(ctx, schema.Query{Input: true})
}

// followStarts reports every worker that becomes ready, until ctx ends. With a single worker it
// also records the state of the files when the worker started. With several workers, the others may
// have loaded older files.
func (s *Service) followStarts(ctx context.Context, events iter.Seq2[hook.Event, error]) {
	s.printAttach(ctx)
	alone := s.Keeper.Config.Workers == 1
	seen := s.changes.started
	for e, err := range events {
		switch {
		case err != nil:
			return
		case e.To == hook.StateStarting:
			if now, err := s.Snapshot(ctx); err == nil { // otherwise ctx has ended
				seen = now
			}
		case e.To == hook.StateReady && e.From == hook.StateStarting: // a degraded worker is not new
			if alone {
				s.changes.load(seen)
			}
			s.describe(ctx)
			s.printAttach(ctx)
			if s.mcp != nil {
				s.mcp.Reload(ctx, s)
			}
		}
	}
}

// printAttach reports how to attach, if that is possible now.
func (s *Service) printAttach(ctx context.Context) {
	line := s.attach(s.status())
	if s.o.Detached || s.attachEnded || line == nil {
		return
	}
	err := s.to.Attach(ctx, string(line))
	if err == nil || ctx.Err() != nil {
		return
	}
	s.attachEnded = true // the reader is gone, which does not end the plugin
	s.to.Warn(err)
}
