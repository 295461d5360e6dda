package commands

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

// service is a plugin that is kept alive behind a name, in the foreground or in
// the background.
type service struct {
	f       *program
	o       startOptions
	starter *daemon.Starter // who waits for it in the background
	server  *daemon.Server  // nil until it has its name
	session *runner.Opened  // that is kept
	events  *eventLog       // nil: nobody reads them
	states  chan hook.State // ready, and before it starting, of each generation but the first

	generation atomic.Int64 // the newest
	serving    atomic.Bool  // it was ready, so that errors are those of calls
	unclean    bool         // the plugin was killed, or did not stop well; known once it is closed
	first      runner.Snapshot
	noting     sync.Mutex      // protects what follows
	noted      time.Time       // when found was found
	found      []string        // what notes returned last
	mu         sync.Mutex      // protects what follows
	seen       runner.Snapshot // of what the workers were started from
	broken     string          // why what a watch saw changed does not start; empty when it does
}

// serve keeps a plugin alive behind its name until a signal or a client ends it,
// or nobody needs it any more. In the foreground it fails when the plugin is given
// up; in the background it stays, and says so to those who call.
func (f *program) serve(ctx context.Context, o startOptions, starter *daemon.Starter) error {
	s := &service{f: f, o: o, starter: starter, states: make(chan hook.State, 64)}
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
	cfg.Keep.Events, cfg.Keep.Note = s.event, s.say
	cfg.Environ = withoutManager(cfg.Environ)
	p, err := f.open(starting, cfg, func(session *runner.Opened) error { return s.prepare(starting, cancel, session) })
	if err != nil {
		s.fail(err)
		if terminated(ctx) && !s.background() && s.f.life.kill.Err() == nil {
			return nil // as soon as it was stopped
		}
		return err
	}
	return s.run(ctx, p.pool)
}

// background tells whether it is no terminal's.
func (s *service) background() bool { return s.starter != nil || s.o.detached }

// prepare takes the name, before anything is started. cancel ends the start.
func (s *service) prepare(ctx context.Context, cancel context.CancelCauseFunc, session *runner.Opened) error {
	if !s.background() && session.Program().MTLS {
		return errNoAttach()
	}
	var err error
	if s.first, err = session.Snapshot(ctx); err != nil {
		return err
	}
	s.session, s.seen = session, s.first
	s.f.plugin.printed = s.printed
	opts := daemon.Options{
		Starter: s.starter, Complete: s.complete, Notes: func() []string { return s.notes(true) },
		CallTimeout: session.Settings().Timeouts.Call, Kill: s.f.life.kill.Done(),
	}
	if s.o.auto {
		opts.IdleExit = autoIdle
	}
	for _, name := range namesOf(session, s.o.name) {
		id := identityOf(session, s.o, name)
		if s.server, err = daemon.Listen(id, opts); !daemon.Is(err, daemon.Taken) {
			break
		}
	}
	if err != nil {
		return err
	}
	s.events.setName(s.server.Identity().Name)
	stoppable, done := s.server.Starting(ctx)
	context.AfterFunc(stoppable, func() { cancel(context.Cause(stoppable)) })
	context.AfterFunc(ctx, done)
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

// say tells the user something, once.
func (s *service) say(text string) {
	s.write(daemon.Line{Stream: daemon.Own, Text: text})
	s.starter.Note(text)
	s.f.streams.Note(s.f.plugin.path + ": " + text)
}

// write puts a line into the log, once there is one.
func (s *service) write(line daemon.Line) {
	if s.server != nil {
		s.server.Log().Add(line)
	}
}

// printed writes what the plugin prints to the log.
func (s *service) printed(stream, text string, cut int) {
	if cut > 0 {
		text += fmt.Sprintf(" … (%d bytes left out)", cut)
	}
	s.write(daemon.Line{Generation: int(s.generation.Load()), Stream: stream, Text: text})
}

// event receives every transition. It must not wait.
func (s *service) event(e hook.Event) {
	s.events.add(e)
	text := e.To.String() + ": " + e.Reason
	if e.Worker != 0 {
		text = fmt.Sprintf("worker %d %s", e.Worker, text)
	}
	if e.To == hook.StateReady && e.PID != 0 {
		text += fmt.Sprintf(" (pid %d)", e.PID)
	}
	if e.Exit != nil {
		text += " (" + e.Exit.String() + ")"
	}
	if e.Delay > 0 {
		text += ", again in " + rounded(e.Delay).String()
	}
	if e.To == hook.StateStarting {
		s.generation.Store(int64(e.Generation))
	}
	s.f.plugin.events.add(func() {
		s.write(daemon.Line{Time: e.Time, Generation: e.Generation, Stream: daemon.Own, Text: text})
		if !s.background() && !s.f.opts.verbose && matters(e) {
			s.f.streams.Note(s.f.plugin.path + ": " + text)
		}
	})
	// One that is healthy again is no newer: another start may have failed meanwhile.
	if e.To == hook.StateStarting && e.Generation > 1 || e.To == hook.StateReady && e.From == hook.StateStarting {
		select {
		case s.states <- e.To:
		default: // generations has enough to report
		}
	}
}

// matters reports whether the user of run --keep should know of a transition: all but
// the first start and the stop.
func matters(e hook.Event) bool {
	switch e.To {
	case hook.StateStopping, hook.StateStopped:
		return false
	case hook.StateStarting, hook.StateReady:
		return e.Generation > 1 || e.From == hook.StateDegraded
	}
	return true
}

// complete adds to an error what only this process knows: its hints, the plugin's
// name, and that the cause may be an old file.
func (s *service) complete(err error) *hook.Error {
	e, name := s.f.complete(err), s.server.Identity().Name
	if s.serving.Load() {
		e.Hints = startedWith(name, e.Hints)
	}
	if e.Reason == "gave-up" {
		e.Hints = append(e.Hints, fmt.Sprintf("run `pyplug restart %s`, or call it after its files changed", name))
	}
	if e.Kind == hook.Request || e.Kind == hook.Failed {
		e.Hints = append(e.Hints, s.notes(true)...)
	}
	return e
}

// run serves what is ready, until it ends.
func (s *service) run(ctx context.Context, k *runner.Pool) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	for _, odd := range s.f.plugin.starts.oddities() {
		s.starter.Note(s.f.plugin.path + ": " + odd)
	}
	var work sync.WaitGroup
	work.Go(func() { s.generations(running, k) })
	if s.o.watch {
		work.Go(func() {
			s.session.Watch(running, s.first, k.Restart, func(changed []string, err error) { s.watched(running, k, changed, err) })
		})
	}
	var over hook.Status // of a plugin that was given up
	s.f.life.onHangup(func() bool { return s.hangup(running, k) })
	defer s.f.life.onHangup(nil)
	if !s.background() {
		s.notify("READY=1")
		work.Go(func() { s.watchdog(running, k) })
		work.Go(func() {
			select {
			case <-s.givenUp(k):
				over = status(k)
				stop()
			case <-running.Done():
			}
			s.notify("STOPPING=1")
		})
	}
	work.Go(debug.FreeOSMemory) // what only the start needed
	s.describe(running, k)
	s.serving.Store(true)
	err := s.server.Serve(running, served{k, s})
	stop()
	work.Wait()
	s.f.plugin.endEvents()
	if err != nil {
		s.f.plugin.warn(err)
	}
	s.f.streams.Log("info", "stopped", "plugin", s.f.plugin.path)
	if over.State != 0 && ctx.Err() == nil {
		return goneFor(over)
	}
	return ended(ctx, s.unclean)
}

// givenUp is closed when the plugin is not started again by itself. One that is
// watched is, when its files change.
func (s *service) givenUp(k *runner.Pool) <-chan struct{} {
	if s.o.watch {
		return nil
	}
	return k.Failed()
}

// goneFor is how it ends in the foreground when its plugin ended for good: one that
// ended well, where that is no reason to start it again, did what it was to do.
func goneFor(st hook.Status) error {
	if exit := st.LastExit; exit != nil && exit.Code == 0 && exit.Signal == "" && st.State == hook.StateStopped {
		return nil
	}
	return &hook.Error{Kind: hook.Unavailable, Exit: st.LastExit, Err: errGaveUp}
}

// errGaveUp is the error of a plugin that is not started again.
var errGaveUp = errors.New("gave up restarting the plugin")

// ended is how what is kept in the foreground ends: by SIGTERM it is stopped, unless the
// plugin did not stop by itself then.
func ended(ctx context.Context, unclean bool) error {
	if signal := (*signalError)(nil); errors.As(context.Cause(ctx), &signal) && (unclean || !terminated(ctx)) {
		return hook.NewError(hook.Canceled, signal)
	}
	return nil
}

// terminated reports whether SIGTERM ended ctx, or the end of its terminal.
func terminated(ctx context.Context) bool {
	signal := (*signalError)(nil)
	return errors.As(context.Cause(ctx), &signal) && (signal.signal == syscall.SIGTERM || signal.signal == syscall.SIGHUP)
}

// flagName finds flags in a hint.
var flagName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`--([a-z][a-z-]*)`) })

// startedWith completes hints for a caller of a running plugin that name a flag of start.
func startedWith(name string, hints []string) []string {
	ofStart := map[string]bool{}
	for _, flag := range launchFlags(new(runner.Config)) {
		ofStart[flag.Names()[0]] = true
	}
	completed := slices.Clone(hints)
	for i, hint := range hints {
		for _, found := range flagName().FindAllStringSubmatch(hint, -1) {
			if ofStart[found[1]] {
				completed[i] = hint + ": " + startAgain(name) + " with that"
				break
			}
		}
	}
	return completed
}
