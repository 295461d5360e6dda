package commands

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

// service is a plugin that is kept alive under a name, in the foreground or in the
// background. It is the [hook.Plugin] of its server.
type service struct {
	*runner.Pool // nil until the plugin is ready
	f            *program
	o            startOptions
	starter      *daemon.Starter // waits for the plugin in the background
	opened       *runner.Opened
	name         string
	server       *daemon.Server // nil until it has its name
	events       *eventLog      // nil: nobody reads them
	changes      changes
	generation   atomic.Int64 // the newest
	ready        atomic.Bool  // the plugin was ready: errors are those of calls
}

// serve keeps a plugin alive under its name until a signal or a client stops it, or, if a
// call started it, until it is idle. In the foreground it fails when the pool gives up; in
// the background it stays, and reports that to callers.
func (f *program) serve(ctx context.Context, o startOptions, starter *daemon.Starter) error {
	s := &service{f: f, o: o, starter: starter}
	if o.events != "" {
		var err error
		if s.events, err = f.openEvents(ctx, o.events); err != nil {
			s.fail(err)
			return err
		}
		defer s.events.close()
	}
	starting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cfg := o.cfg
	cfg.Keep.Events, cfg.Keep.Note = s.event, s.note
	cfg.Environ = withoutManager(cfg.Environ)
	p, err := f.open(starting, cfg, func(opened *runner.Opened) error { return s.listen(starting, cancel, opened) })
	if err != nil {
		s.fail(err)
		if terminated(ctx) && !o.detached && f.signals.kill.Err() == nil {
			return nil
		}
		return err
	}
	s.Pool = p.pool
	return s.run(ctx)
}

// listen takes the name before the plugin starts. cancel ends the start.
func (s *service) listen(ctx context.Context, cancel context.CancelCauseFunc, opened *runner.Opened) error {
	if !s.o.detached && opened.Settings().MTLS {
		return errNoAttach()
	}
	seen, err := opened.Snapshot(ctx)
	if err != nil {
		return err
	}
	s.opened, s.changes.started, s.changes.loaded = opened, seen, seen
	s.f.plugin.printed = s.printed
	opts := daemon.Options{
		Starter: s.starter, Complete: s.complete, Notes: func() []string { return s.notes(0) },
		CallTimeout: opened.Settings().Timeouts.Call, Kill: s.f.signals.kill,
	}
	if s.o.auto {
		opts.IdleExit = autoIdle
	}
	for _, s.name = range namesOf(opened, s.o.name) {
		if s.server, err = daemon.Listen(s.f.plugin.identity(s.o, s.name), opts); !daemon.Is(err, daemon.Taken) {
			break
		}
	}
	if err != nil {
		return err
	}
	stopping := s.server.Stopping()
	context.AfterFunc(stopping, func() { cancel(context.Cause(stopping)) })
	return nil
}

// fail reports to everybody who waits for the start that it failed.
func (s *service) fail(err error) {
	if s.server != nil {
		s.server.Fail(err)
		return
	}
	s.starter.Fail(s.f.complete(err))
}

// run serves the plugin, which is ready, until it ends.
func (s *service) run(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	for _, odd := range s.f.plugin.starts.oddities() {
		s.starter.Note(s.f.plugin.path + ": " + odd)
	}
	var work sync.WaitGroup
	events := s.Events(running)
	if s.o.watch {
		work.Go(func() { s.opened.Watch(running, s.changes.started, s.Restart, s.watched) })
	}
	s.f.signals.onHangup(func() bool { return s.hangup(running) })
	defer s.f.signals.onHangup(nil)
	var gaveUp error
	if !s.o.detached {
		s.notify("READY=1")
		work.Go(func() { s.watchdog(running) })
		work.Go(func() {
			select {
			case <-s.givenUp():
				gaveUp = gaveUpError(status(s.Pool))
				stop()
			case <-running.Done():
			}
			s.notify("STOPPING=1")
		})
	}
	work.Go(debug.FreeOSMemory) // what only the start needed
	s.describe(running)
	work.Go(func() { s.followStarts(running, events) })
	s.ready.Store(true)
	err := s.server.Serve(running, s)
	stop()
	work.Wait()
	s.f.plugin.endEvents()
	if err != nil && !errors.Is(err, context.Canceled) {
		s.f.plugin.warn(err)
	}
	s.f.streams.Log("info", "stopped", "plugin", s.f.plugin.path)
	switch {
	case ctx.Err() == nil: // a client stopped it, it was idle, or it was given up
		return gaveUp
	case terminated(ctx) && err == nil:
		return nil
	}
	return hook.NewError(hook.Canceled, context.Cause(ctx))
}

// terminated reports whether SIGTERM, or the end of its terminal, ended ctx.
func terminated(ctx context.Context) bool {
	signal := (*signalError)(nil)
	return errors.As(context.Cause(ctx), &signal) && (signal.signal == syscall.SIGTERM || signal.signal == syscall.SIGHUP)
}

// givenUp is closed when the plugin is not started again, not even after its files change.
func (s *service) givenUp() <-chan struct{} {
	if s.o.watch {
		return nil
	}
	return s.Failed()
}

// gaveUpError is the error of a plugin that is not started again. It is nil if the plugin
// exited with code 0 and the restart policy takes that for its end.
func gaveUpError(st hook.Status) error {
	if exit := st.LastExit; exit != nil && exit.Code == 0 && exit.Signal == "" && st.State == hook.StateStopped {
		return nil
	}
	return &hook.Error{Kind: hook.Unavailable, Exit: st.LastExit, Err: errors.New("gave up restarting the plugin")}
}
