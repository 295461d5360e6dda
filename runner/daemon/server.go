package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/daemon/access"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	// headerLimit is how long a client may take to send a request's header.
	headerLimit = 10 * time.Second
	// stopRequests is how long requests may continue after a stop begins. Running calls have 5 s to
	// end. If a client sets another limit for calls, requests may continue for that limit plus
	// afterCalls.
	stopRequests = 7 * time.Second
	afterCalls   = 2 * time.Second
	// lastAnswers is how long clients may take to read their answers when the server
	// ends.
	lastAnswers = 2 * time.Second
	// lastAccepts is how long an ending server still accepts connections that were made before its
	// socket was removed.
	lastAccepts = 20 * time.Millisecond
)

// Options are the settings of a [Server]. With the zero value it serves until it is
// stopped, adds no hints and has no time limit for calls.
type Options struct {
	// Starter is the process that waits for the daemon to be ready, or nil.
	Starter *Starter
	// Complete adds the hints and the plugin's name to an error. It may be nil.
	Complete func(error) *hook.Error
	// Notes returns messages for callers, such as that the plugin's file has changed. They are part
	// of the status. It may be nil.
	Notes func() []string
	// CallTimeout is the timeout of a call that sets none, or 0 for no timeout.
	CallTimeout time.Duration
	// Access makes the server listen over TCP, too. It may be nil.
	Access *access.Access
	// Drain is how long calls are still accepted after a stop has begun. Health requests fail
	// during that time.
	Drain time.Duration
	// MCP serves the Model Context Protocol over TCP. It may be nil.
	MCP http.Handler
	// Metrics returns the metrics of a plugin with the given status in the text format of
	// Prometheus. It may be nil.
	Metrics func(st hook.Status) []byte
	// Locate sets the current place of each running call. It may be nil.
	Locate func(calls []hook.RunningCall)
	// LimitClose sets how long running calls may continue once the plugin is closed. It may be nil.
	LimitClose func(calls time.Duration)
	// Series reports whether the plugin makes a [hook.Series].
	Series bool
	// IdleExit is the time without a call after which the daemon ends. Zero means never.
	IdleExit time.Duration
	// Echo receives each line that pyplug itself adds to the log. It may be nil.
	Echo func(text string)
	// When Kill ends, a stop kills the plugin at once. Nil never ends.
	Kill context.Context
}

// Server holds a name and serves a plugin under it. It is safe for concurrent use.
type Server struct {
	id   Identity
	opts Options
	held *held // nil if the daemon serves over TCP alone
	log  *Log
	http *http.Server
	tcp  *http.Server // nil without TCP

	ready   chan struct{} // closed once plugin or failure is set
	plugin  hook.Plugin
	failure *hook.Error

	stopping    context.Context // ends when a client asks for a stop, or when the daemon is idle
	stop        context.CancelCauseFunc
	killing     context.Context // for the plugin's Close; its end kills the plugin
	kill        context.CancelFunc
	ctx         context.Context // the parent of all requests
	endRequests context.CancelCauseFunc
	released    chan struct{} // closed when the name is free

	draining atomic.Bool // a stop has begun, and calls are still accepted
	// requested is the first request for a stop, or nil if there was none. ended says why the run
	// ended.
	requested atomic.Pointer[stopRequest]
	ended     string
	series    sync.Map // id → a channel, closed when the client wants the calls of a series back

	mu        sync.Mutex
	calls     int         // running calls; the daemon is idle if there are none
	ending    bool        // does not accept calls any more
	idle      *time.Timer // nil if the daemon stays when idle
	unhealthy *hook.Error // why the plugin was not ready at the last probe, or nil if unknown
}

// Listen acquires a name. From then on clients can request the status, and calls wait for
// [Server.Serve]. Listen removes the files of a dead daemon. Either Serve or [Server.Fail] must
// follow.
//
// Errors are [*hook.Error]: of kind Usage and reason [Taken] or [AlreadyRuns] if the name is taken,
// of kind Usage for an invalid name or directory, of kind Unavailable if the files cannot be
// written. After an error nothing is left.
//
// On a system without Unix sockets, such as an old Windows, it acquires no name and serves over TCP
// alone: the Socket of the identity is empty.
func Listen(id Identity, o Options) (*Server, error) {
	if _, err := search(id.Name); err != nil {
		return nil, err
	}
	all, err := makePlaces(id.Name)
	if err != nil {
		return nil, err
	}
	h, err := awaitLocks(all, id)
	if err != nil {
		return nil, err
	}
	id.API, id.PID, id.Started = API, os.Getpid(), time.Now().Round(0)
	s, err := h.listen(id, o)
	if err == nil {
		return s, nil
	}
	h.release()
	switch {
	case !errors.Is(err, noSockets):
		return nil, unavailable(err)
	case o.Access == nil:
		return nil, noSocketsError()
	}
	return newServer(id, o, nil, &Log{closed: true, echo: o.Echo}), nil
}

// makePlaces creates the directories of a name, and returns the places whose directories can be
// used. If there is none, it returns an error.
func makePlaces(name string) (made []place, err error) {
	all, err := places(name)
	for _, p := range all {
		if failed := makeDir(p.dir); failed != nil {
			err = failed
		} else {
			made = append(made, p)
		}
	}
	if len(made) > 0 {
		return made, nil
	}
	return nil, err
}

// awaitLocks acquires the name in all of its places. It begins with the last place, which is the
// same in every environment, so that one of two concurrent starts gets all places.
func awaitLocks(all []place, id Identity) (h *held, err error) {
	for _, p := range slices.Backward(all) {
		next, err := p.awaitLock(id)
		if err != nil {
			h.release()
			return nil, err
		}
		next.also = h
		h = next
	}
	return h, nil
}

// awaitLock acquires the name unless a live process has it.
func (p place) awaitLock(id Identity) (*held, error) {
	for began := time.Now(); ; <-time.After(pollEvery) {
		h, err := p.acquire()
		switch {
		case err == nil:
			return h, nil
		case !errors.Is(err, errTaken):
			return nil, unavailable(err)
		}
		over := time.Since(began) > takeLimit
		if !over && !p.answers() {
			continue
		}
		by, err := p.readState()
		if err == nil || over { // otherwise a daemon answered and has ended since
			return nil, takenError(id, by)
		}
	}
}

// listen opens the socket and the log. Its caller removes the files if it fails.
func (h *held) listen(id Identity, o Options) (*Server, error) {
	log := place{makeLogDir(h.dir), h.name}.log()
	id.Socket, id.Log = schema.Path(h.socket()), schema.Path(log)
	for each := h; each != nil; each = each.also {
		_ = os.Remove(each.socket()) // a dead daemon may have left it
		if err := each.write(id); err != nil {
			return nil, err
		}
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: h.socket(), Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false) // release removes the socket
	var open *Log
	if err = os.Chmod(h.socket(), 0o600); err == nil && h.also != nil {
		err = os.Symlink(h.socket(), h.also.socket())
	}
	if err == nil {
		open, err = openLog(log, o.Starter != nil, o.Echo)
	}
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	if last, _ := LastRun(h.name); last.Crashed {
		open.note("the last run ended without a stop")
	}
	o.Starter.send(progress{Named: &id})
	s := newServer(id, o, h, open)
	go func() { _ = s.http.Serve(peerListener{listener, open}) }() // ends with release
	return s, nil
}

func newServer(id Identity, o Options, h *held, l *Log) *Server {
	if o.Complete == nil {
		o.Complete = hook.AsError
	}
	s := &Server{id: id, opts: o, held: h, log: l, ready: make(chan struct{}), released: make(chan struct{})}
	s.stopping, s.stop = context.WithCancelCause(context.Background())
	s.ctx, s.endRequests = context.WithCancelCause(context.Background())
	if o.Kill == nil {
		o.Kill = context.Background()
	}
	s.killing, s.kill = context.WithCancel(o.Kill)
	s.http = s.newHTTP(s.handler(s.requests()))
	if o.Access != nil {
		s.serveTCP()
	}
	return s
}

// Identity describes the daemon and its plugin.
func (s *Server) Identity() Identity { return s.id }

// Log returns the log of the daemon. Serve and Fail close it.
func (s *Server) Log() *Log { return s.log }

// Stopping returns a context that ends when a client asks for a stop. Its cause is the error for a
// start that the stop interrupts.
func (s *Server) Stopping() context.Context { return s.stopping }

// Serve serves a plugin until ctx ends, a client asks for a stop, or nobody has called for
// [Options.IdleExit]. It then rejects new calls, closes the plugin, removes the files and releases
// the name. It returns the error of [hook.Plugin.Close]. Serve must be called only once.
func (s *Server) Serve(ctx context.Context, plugin hook.Plugin) error {
	s.mu.Lock()
	s.plugin, s.unhealthy = plugin, nil
	if s.opts.IdleExit > 0 {
		s.idle = time.AfterFunc(s.opts.IdleExit, func() {
			if s.endCalls(true) {
				s.stop(stoppingError(s.id.Name))
			}
		})
	}
	s.mu.Unlock()
	close(s.ready)
	s.opts.Starter.send(progress{Ready: true})
	select {
	case <-ctx.Done():
	case <-s.stopping.Done():
	}
	s.ended = s.stopReason(ctx)
	s.log.note("stopping: " + s.ended)
	s.drain()
	s.endCalls(false)
	late := time.AfterFunc(s.limitCalls(), func() { s.endRequests(stoppingError(s.id.Name)) })
	defer late.Stop()
	err := plugin.Close(s.killing)
	s.release()
	return err
}

// Unhealthy records why the started plugin is not ready yet. Health requests get that error. So do
// requests that time out while they wait for the plugin.
func (s *Server) Unhealthy(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unhealthy = hook.AsError(err)
}

// notReady returns why the plugin is not ready yet. It returns nil if the plugin is ready or the
// reason is unknown.
func (s *Server) notReady(hookName string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unhealthy == nil {
		return nil
	}
	e := *s.unhealthy
	e.Hook = hookName
	return &e
}

// Fail answers all waiting requests with the error of the failed start. Then it removes the files
// and releases the name. Call it instead of [Server.Serve].
func (s *Server) Fail(err error) {
	if s.stopping.Err() != nil {
		err = stoppingError(s.id.Name) // a stop, not a waiting client, ended the start
	}
	failure := s.opts.Complete(err)
	s.ended = "the start failed"
	s.mu.Lock()
	if s.failure = failure; failure.Kind == hook.Canceled { // a signal, not a waiting client, ended the start
		s.failure = hook.AsError(stoppingError(s.id.Name))
	}
	s.unhealthy, s.ending = nil, true
	s.mu.Unlock()
	close(s.ready)
	s.release()
	s.opts.Starter.Fail(failure) // after release, so that a new attempt finds the name free
}

// endCalls makes the server reject calls. If onlyIdle is set, it does so only if no call runs. It
// reports whether it did.
func (s *Server) endCalls(onlyIdle bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if onlyIdle && (s.ending || s.calls > 0) {
		return false
	}
	s.ending = true
	return true
}

// use marks the daemon busy until done is called.
func (s *Server) use() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls--
		if s.idle != nil && s.calls == 0 {
			s.idle.Reset(s.opts.IdleExit) // the timer's function does nothing while calls run
		}
	}
}

// await returns the plugin after it has started. It returns the error of the start, or a Stopping
// error.
func (s *Server) await(ctx context.Context, hookName string) (hook.Plugin, error) {
	select {
	case <-s.ready:
	case <-ctx.Done():
		err := hook.Ended(ctx, hookName, "the plugin was not ready", false)
		if why := s.notReady(hookName); why != nil && err.Kind == hook.Timeout {
			return nil, why
		}
		return nil, err
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

// peerListener accepts only connections from the same user.
type peerListener struct {
	*net.UnixListener
	log *Log
}

func (l peerListener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if err = checkPeer(c); err == nil {
			return c, nil
		}
		l.log.note("rejected a connection: " + err.Error())
		_ = c.Close()
	}
}
