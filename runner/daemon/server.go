package daemon

import (
	"context"
	"errors"
	"time"
)

const (
	// defaultGrace is how long calls may go on in a daemon that is stopped.
	defaultGrace = 5 * time.Second
	// partLimit is how long a server that ends waits for the last answers to be
	// taken.
	partLimit = 2 * time.Second
)

// Serve serves a session until ctx ends, a client says stop, or nobody called it
// for [Options.IdleExit]. It then takes no calls any more, gives those that run
// [Options.Grace], closes the session, removes the files and frees the name. The
// error is that of [Session.Close]. It is called once.
func (s *Server) Serve(ctx context.Context, session Session) error {
	idled := make(chan struct{})
	s.mu.Lock()
	s.session = session
	close(s.ready)
	if s.opts.IdleExit > 0 {
		s.idle = time.AfterFunc(s.opts.IdleExit, func() {
			if s.retire(true) {
				close(idled)
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
	case <-s.stopped:
	case <-idled:
	}
	s.retire(false)
	err := s.closeSession(session)
	s.part()
	return err
}

// Tell tells whoever waits that the start failed, and why; then it removes the
// files and frees the name. It is called in the place of [Server.Serve].
func (s *Server) Tell(err error) {
	if stopping := (*StoppingError)(nil); errors.As(err, &stopping) {
		err = unavailable(stopping) // nobody has interrupted those who wait
	}
	told := s.tell(err)
	s.mu.Lock()
	s.failure = &told
	s.ending = true
	s.mu.Unlock()
	close(s.ready)
	s.part()
	s.opts.Starter.failed(told) // who then tries again finds the name free
}

// retire has no more calls taken. With onlyIdle it does so only while none runs, and
// tells whether it did.
func (s *Server) retire(onlyIdle bool) bool {
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

// closeSession lets the calls that run come to their end, for a while, and stops
// the plugin. Who says stop a second time has it killed.
func (s *Server) closeSession(session Session) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // ends with ctx
		select {
		case <-s.hurried:
		case <-s.opts.Kill:
		case <-ctx.Done():
		}
		cancel()
	}()
	grace := s.opts.Grace
	if grace == 0 {
		grace = defaultGrace
	}
	if grace > 0 {
		wait, done := context.WithTimeout(ctx, grace)
		_ = session.Drain(wait) // what still runs is told that it was stopped
		done()
	}
	s.hasten()
	return session.Close(ctx)
}

// hasten has clients dropped sooner that take nothing: a call whose item cannot be
// written does not end.
func (s *Server) hasten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	for cl := range s.clients {
		cl.hasten()
	}
}

// patience is how long a client may take nothing.
func (s *Server) patience() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return partLimit
	}
	return writeLimit
}

// part answers who still waits, ends the connections, removes the files and frees
// the name.
func (s *Server) part() {
	limit := time.AfterFunc(partLimit, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for cl := range s.clients {
			cl.drop()
		}
	})
	s.mu.Lock()
	for s.running > 0 && len(s.clients) > 0 {
		s.answered.Wait()
	}
	s.parted = true // who comes now is dropped by welcome
	for cl := range s.clients {
		cl.drop()
	}
	_ = s.listener.Close()
	s.mu.Unlock()
	limit.Stop()
	s.stop(false) // for Starting, which may still look, and the guard
	s.work.Wait()
	_ = s.log.Close()
	if s.held.retake(s.bound()) { // else the files are a successor's
		s.held.clear()
		s.held.clearLog()
	}
	s.held.free()
}

// stop ends Serve; with now, the plugin is killed.
func (s *Server) stop(now bool) {
	s.stopOnce.Do(func() { close(s.stopped) })
	if now {
		s.rushOnce.Do(func() { close(s.hurried) })
	}
}
