package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/wire"
)

const (
	// maxClients is how many connections a daemon has at once: more than a pool's
	// queue is long by default, since each call from a shell has its own. Of
	// maxLookers more each may look and stop, so that these always work.
	maxClients = 1024
	maxLookers = 64
	// takeLimit is how long who wants a name waits for one who holds it, but
	// answers no connection: it is about to, or is about to be gone.
	takeLimit = 2 * time.Second
	// look is how often a name is looked at while somebody waits for it.
	look = 10 * time.Millisecond
)

// Server holds a name, and serves a session under it. Its methods are safe for
// concurrent use.
type Server struct {
	id     Identity
	opts   Options
	held   *held
	log    *Log
	came   chan struct{} // has a token when a client came
	socket os.FileInfo   // the guard's: what listener listens on

	ready   chan struct{} // closed when session or failure is there
	session Session
	failure *hook.Told

	stopped  chan struct{} // closed when a client says stop, or it is over
	hurried  chan struct{} // closed when a client says so again
	stopOnce sync.Once
	rushOnce sync.Once

	noting sync.Mutex
	noted  time.Time // when found was found
	found  string

	mu       sync.Mutex
	listener *net.UnixListener
	clients  map[*connection]struct{}
	running  int         // calls and messages
	calls    int         // what keeps it from being idle
	ending   bool        // takes no calls any more
	closing  bool        // its calls are ended
	parted   bool        // its connections are ended
	idle     *time.Timer // nil: stays when it is idle
	answered *sync.Cond  // running went down
	work     sync.WaitGroup
}

// Listen takes a name: from then on clients can ask what it is, and their calls
// wait for [Server.Serve]. What a daemon left that is dead is removed. Either
// Serve or [Server.Tell] must follow.
//
// Errors are [*hook.Error]: of kind Usage with a [*TakenError] where another one
// has the name, for what is no name, or where PYPLUG_RUN_DIR is a relative path; of kind Unavailable where there is no
// directory that is the user's alone, or it cannot be written to. Nothing is left
// then.
func Listen(id Identity, o Options) (*Server, error) {
	all, err := places(id.Name)
	if err != nil {
		return nil, err
	}
	p, err := makePlace(all)
	if err != nil {
		return nil, err
	}
	there, _ := seen(all)
	for _, other := range there {
		if other != p && other.taken() {
			return nil, takenBy(other)
		}
	}
	h, err := p.wait()
	if err != nil {
		return nil, err
	}
	s, err := h.serve(id, o)
	if err != nil {
		h.clear()
		h.free()
		return nil, unavailable(err)
	}
	return s, nil
}

func takenBy(p place) error {
	by, _ := p.readState() // whoever it is
	return &hook.Error{Kind: hook.Usage, Err: &TakenError{Name: p.name, By: by}}
}

// wait takes the name, unless one who is alive has it.
func (p place) wait() (*held, error) {
	limit := time.NewTimer(takeLimit)
	defer limit.Stop()
	again := time.NewTicker(look)
	defer again.Stop()
	for {
		h, ok, err := p.take()
		if err != nil {
			return nil, unavailable(err)
		}
		if ok {
			return h, nil
		}
		if p.answers() {
			return nil, takenBy(p)
		}
		select {
		case <-again.C:
		case <-limit.C:
			return nil, takenBy(p)
		}
	}
}

// serve writes who holds the name and opens the socket. What it leaves when it
// fails, its caller removes.
func (h *held) serve(id Identity, o Options) (*Server, error) {
	h.clear()
	_, before := os.Lstat(h.log()) // that of a daemon which was killed is kept
	log, err := openLog(h.log(), o.Starter != nil)
	if err != nil {
		return nil, err
	}
	id.PID, id.Started, id.Build = os.Getpid(), time.Now().Round(0), wire.Build()
	id.Mark, id.Boot = processMark(id.PID), bootMark()
	id.Socket, id.Log = h.socket, h.log()
	var socket os.FileInfo
	var listener *net.UnixListener
	if err = h.writeState(id); err == nil {
		listener, socket, err = h.bind()
	}
	if err != nil {
		_ = log.Close()
		if before != nil {
			h.clearLog()
		}
		return nil, err
	}
	s := &Server{
		id: id, opts: o, held: h, listener: listener, socket: socket, log: log, came: make(chan struct{}, 1), ready: make(chan struct{}),
		stopped: make(chan struct{}), hurried: make(chan struct{}), clients: make(map[*connection]struct{}),
	}
	s.answered = sync.NewCond(&s.mu)
	s.work.Go(func() { s.accept(listener) })
	gone := make(chan struct{}, 1)
	stop := watchFile(h.socket, gone)
	s.work.Go(func() {
		defer stop()
		s.guard(gone)
	})
	return s, nil
}

// Identity says who serves, and what.
func (s *Server) Identity() Identity { return s.id }

// Log is where the daemon writes what the plugin prints. It is closed with the
// server.
func (s *Server) Log() *Log { return s.log }

// Starting returns a context for the start of what is to be served: it ends with
// ctx, and with a [*StoppingError] when a client says stop meanwhile.
func (s *Server) Starting(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { // ends with ctx, which the caller cancels
		select {
		case <-s.stopped:
			cancel(&StoppingError{Name: s.id.Name})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// accept takes connections until the listener is closed.
func (s *Server) accept(listener *net.UnixListener) {
	var looked time.Time
	for {
		c, err := listener.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // no descriptors left; those who are here go on
			<-time.After(look)
			continue
		}
		if time.Since(looked) > guardPause {
			looked = time.Now()
			wake(s.came)
		}
		if err := checkPeer(c); err != nil {
			s.log.note("refused a connection: " + err.Error())
			_ = c.Close()
			continue
		}
		s.welcome(c)
	}
}

// welcome begins to serve a connection, unless there are too many.
func (s *Server) welcome(c net.Conn) {
	cl := newConnection(s, c)
	s.mu.Lock()
	cl.crowded = len(s.clients) >= maxClients
	full, parted := len(s.clients) >= maxClients+maxLookers, s.parted
	if !full && !parted {
		s.clients[cl] = struct{}{}
	}
	s.mu.Unlock()
	switch {
	case parted:
		cl.drop()
		return
	case full:
		cl.refuse()
		return
	}
	s.work.Go(func() {
		defer s.leave(cl)
		cl.serve()
	})
}

// leave forgets a connection that is over.
func (s *Server) leave(cl *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, cl)
	s.answered.Broadcast()
}

// use keeps the daemon from being idle until done is called. Who only looks does not
// use it.
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

// begin counts a call or message in; ok is false when none are taken any more.
func (s *Server) begin() (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running++
	return !s.ending
}

// end counts it out.
func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	s.answered.Broadcast()
}

// await waits for the session. The error is that of the start, or ctx's.
func (s *Server) await(ctx context.Context) (Session, *hook.Told, error) {
	select {
	case <-s.ready:
		return s.session, s.failure, nil
	default:
	}
	select {
	case <-s.ready:
		return s.session, s.failure, nil
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// tell makes an error ready for a client.
func (s *Server) tell(err error) hook.Told {
	return tellWith(err, s.opts.Hints, s.opts.Context)
}

// tellWith adds to an error what its types and the session say about it.
func tellWith(err error, hints, context func(error) []string) hook.Told {
	t := hook.Tell(err)
	if hints != nil {
		t.Hints = hints(err)
	}
	if context != nil {
		t.Context = context(err)
	}
	return t
}
