package daemon

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	// headerLimit is how long a client may take to send a request's header.
	headerLimit = 10 * time.Second
	// stopWrites is how long, from the beginning of a stop, a client may take to
	// read what is written to it: running calls have 5 s to end.
	stopWrites = 7 * time.Second
	// lastAnswers is how long an ending server waits until its last answers are read.
	lastAnswers = 2 * time.Second
	// lastAccepts is how long an ending server still accepts the connections that
	// were made before its socket was removed.
	lastAccepts = 20 * time.Millisecond
)

// Options are the settings of a [Server]. With the zero value it serves until it is
// stopped, adds no hints and has no time limit for calls.
type Options struct {
	// Starter is the process that waits for the daemon to be ready; nil if none.
	Starter *Starter
	// Complete adds the hints and the plugin's name to an error; nil adds nothing.
	Complete func(error) *hook.Error
	// Notes returns what a caller should know now, such as that the plugin's file
	// has changed; nil means nothing. It is part of the status.
	Notes func() []string
	// CallTimeout is the limit of a call that brings none; 0 means none.
	CallTimeout time.Duration
	// IdleExit ends the daemon after so long without a call; 0 means never.
	IdleExit time.Duration
	// Kill, when closed, makes a stop kill the plugin.
	Kill <-chan struct{}
}

// Server holds a name and serves a plugin under it. It is safe for concurrent use.
type Server struct {
	id       Identity
	opts     Options
	held     *held
	log      *Log
	listener *net.UnixListener
	http     *http.Server

	ready   chan struct{} // closed once plugin or failure is set
	plugin  hook.Plugin
	failure *hook.Error

	stopped  signalChan  // a client asks for a stop
	killed   signalChan  // a client asks to kill the plugin
	released signalChan  // the name is free
	writes   *cancelable // ended when no client may delay the end any longer

	mu     sync.Mutex
	calls  int         // running calls, which keep the daemon from being idle
	ending bool        // accepts no calls any more
	idle   *time.Timer // nil: stays when idle
}

// signalChan is a channel that is closed once.
type signalChan struct {
	c    chan struct{}
	once *sync.Once
}

func newSignal() signalChan { return signalChan{make(chan struct{}), new(sync.Once)} }
func (s signalChan) set()   { s.once.Do(func() { close(s.c) }) }

// cancelable is a context with its cancel function.
type cancelable struct {
	context.Context
	cancel context.CancelFunc
}

// Listen acquires a name. From then on clients can ask for the status, and calls wait
// for [Server.Serve]. Listen removes what a dead daemon left. Either Serve or
// [Server.Fail] must follow.
//
// Errors are [*hook.Error]: of kind Usage and reason [Taken] or [AlreadyRuns] if the
// name is taken, of kind Usage for an invalid name or directory, of kind Unavailable
// if the files cannot be written. Nothing is left then.
func Listen(id Identity, o Options) (*Server, error) {
	all, err := places(id.Name)
	if err != nil {
		return nil, err
	}
	p, err := makePlace(all)
	if err != nil {
		return nil, err
	}
	there, _ := existing(all)
	for _, other := range there {
		if other != p && other.taken() {
			return nil, other.takenBy(id)
		}
	}
	h, err := p.awaitLock(id)
	if err != nil {
		return nil, err
	}
	s, err := h.serve(id, o)
	if err != nil {
		h.clear()
		h.release()
		return nil, unavailable(err)
	}
	return s, nil
}

func (p place) takenBy(wanted Identity) error {
	by, _ := p.readState() // the zero Identity if it has not written that yet
	return TakenError(wanted, by)
}

// awaitLock acquires the name unless a live process has it.
func (p place) awaitLock(id Identity) (*held, error) {
	for began := time.Now(); ; <-time.After(pollEvery) {
		h, ok, err := p.acquire()
		switch {
		case err != nil:
			return nil, unavailable(err)
		case ok:
			return h, nil
		case p.answers(), time.Since(began) > takeLimit:
			return nil, p.takenBy(id)
		}
	}
}

// serve opens the log and the socket. Its caller removes what is left if it fails.
func (h *held) serve(id Identity, o Options) (*Server, error) {
	h.clear()
	_, noLog := os.Lstat(h.log()) // the log of a killed daemon is kept
	log, err := openLog(h.log(), o.Starter != nil)
	if err != nil {
		return nil, err
	}
	id.API, id.PID, id.Started = API, os.Getpid(), time.Now().Round(0)
	id.Mark, id.Boot = processMark(id.PID), bootMark()
	id.Socket, id.Log = h.socket, h.log()
	var listener *net.UnixListener
	if err = h.writeState(id); err == nil {
		listener, err = h.bind()
	}
	if err != nil {
		_ = log.Close()
		if noLog != nil {
			h.clearLog()
		}
		return nil, err
	}
	s := &Server{
		id: id, opts: o, held: h, listener: listener, log: log, ready: make(chan struct{}),
		stopped: newSignal(), killed: newSignal(), released: newSignal(),
	}
	writes, cancel := context.WithCancel(context.Background())
	s.writes = &cancelable{writes, cancel}
	s.http = s.httpServer()
	go func() { _ = s.http.Serve(peerListener{s}) }() // ends with release
	return s, nil
}

// bind opens the socket.
func (h *held) bind() (*net.UnixListener, error) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: h.socket, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false) // clear removes it
	if err := os.Chmod(h.socket, 0o600); err != nil {
		_ = listener.Close()
		return nil, err
	}
	return listener, nil
}

func (s *Server) httpServer() *http.Server {
	return &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: headerLimit, ErrorLog: log.New(s.log, "", 0),
	}
}

// peerListener accepts only connections of the same user.
type peerListener struct{ s *Server }

func (l peerListener) Accept() (net.Conn, error) {
	for {
		c, err := l.s.listener.AcceptUnix()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = net.ErrClosed // release sets the deadline
		}
		if err != nil {
			return nil, err
		}
		if err := checkPeer(c); err != nil {
			l.s.log.note("rejected a connection: " + err.Error())
			_ = c.Close()
			continue
		}
		return c, nil
	}
}

func (l peerListener) Close() error   { return l.s.listener.Close() }
func (l peerListener) Addr() net.Addr { return l.s.listener.Addr() }

// Identity says who serves, and what.
func (s *Server) Identity() Identity { return s.id }

// Log is where the daemon writes what the plugin prints. Serve and Fail close it.
func (s *Server) Log() *Log { return s.log }

// Starting returns a context for the plugin's start, which ends when a client asks
// for a stop.
func (s *Server) Starting(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { // ends with ctx
		select {
		case <-s.stopped.c:
			cancel(stoppingError(s.id.Name))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Serve serves a plugin until ctx ends, a client asks for a stop, or nobody has
// called for [Options.IdleExit]. It then rejects new calls, closes the plugin, removes
// the files and releases the name. The error is that of [hook.Plugin.Close]. Serve is
// called once.
func (s *Server) Serve(ctx context.Context, plugin hook.Plugin) error {
	idle := newSignal()
	s.mu.Lock()
	s.plugin = plugin
	close(s.ready)
	if s.opts.IdleExit > 0 {
		s.idle = time.AfterFunc(s.opts.IdleExit, func() {
			if s.endCalls(true) {
				idle.set()
			}
		})
		if s.calls > 0 {
			s.idle.Stop()
		}
	}
	s.mu.Unlock()
	s.opts.Starter.ready(s.id)
	select {
	case <-ctx.Done():
	case <-s.stopped.c:
	case <-idle.c:
	}
	s.endCalls(false)
	err := s.closePlugin(plugin)
	s.release()
	return err
}

// Fail reports to everybody who waits that the start failed, and why. Then it removes
// the files and releases the name. It is called in place of [Server.Serve].
func (s *Server) Fail(err error) {
	if Is(err, Stopping) {
		err = stoppingError(s.id.Name) // nobody interrupted those who wait
	}
	s.mu.Lock()
	s.failure, s.ending = s.complete(err), true
	s.mu.Unlock()
	close(s.ready)
	s.release()
	s.opts.Starter.failed(s.failure) // a new attempt then finds the name free
}

// endCalls makes the server reject calls. With onlyIdle it does so only if none runs,
// and reports whether it did.
func (s *Server) endCalls(onlyIdle bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if onlyIdle && (s.ending || s.calls > 0) {
		return false
	}
	s.ending = true
	if s.idle != nil {
		s.idle.Stop()
	}
	return true
}

// closePlugin closes the plugin. A second request to stop kills it.
func (s *Server) closePlugin(plugin hook.Plugin) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // ends with ctx
		select {
		case <-s.killed.c:
		case <-s.opts.Kill:
		case <-ctx.Done():
		}
		cancel()
	}()
	late := time.AfterFunc(stopWrites, s.writes.cancel)
	defer late.Stop()
	return plugin.Close(ctx)
}

// release removes the files, releases the name and ends all connections after their
// answers.
func (s *Server) release() {
	if s.held.owns() { // otherwise the files are a successor's
		s.held.clear()
	}
	_ = s.listener.SetDeadline(time.Now().Add(lastAccepts))
	<-time.After(lastAccepts)
	if s.held.owns() {
		s.held.clearLog()
	}
	s.held.release()
	s.released.set()
	s.stopped.set() // for Starting
	s.writes.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), lastAnswers)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	_ = s.log.Close()
}

// use marks the daemon busy until done is called.
func (s *Server) use() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.idle != nil {
		s.idle.Stop()
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls--
		if s.idle != nil && s.calls == 0 && !s.ending {
			s.idle.Reset(s.opts.IdleExit)
		}
	}
}

// await returns the plugin once it has started. The error is that of its start, or a
// Stopping error.
func (s *Server) await(ctx context.Context, began time.Time, hookName string) (hook.Plugin, *hook.Error) {
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, hook.Ended(ctx, hookName, "the plugin was not ready", began, false)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failure != nil:
		return nil, s.failure
	case s.ending:
		return nil, stoppingError(s.id.Name)
	}
	return s.plugin, nil
}

// complete adds to an error what only this process knows.
func (s *Server) complete(err error) *hook.Error {
	e := hook.AsError(err)
	if s.opts.Complete != nil {
		e = s.opts.Complete(err)
	}
	return complete(e, s.id.About)
}

// complete adds the plugin's name and the drawing of the cause to an error.
func complete(e *hook.Error, about string) *hook.Error {
	whole := *e
	if whole.Plugin == "" {
		whole.Plugin = about
	}
	if whole.Drawing == nil {
		whole.Drawing = hook.NewError(e.Kind, e.Err).Drawing
	}
	return &whole
}
