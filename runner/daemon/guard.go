package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"github.com/pyplug/pyplug/runner/wire"
)

const (
	// guardEvery is how often a daemon looks whether its files are still there.
	guardEvery = time.Minute
	// guardPause is how long it does not look again for another connection.
	guardPause = time.Second
	// guardSettle is how long it waits when its socket was removed: who removes the
	// directory as well, file by file, is not to find it filled again.
	guardSettle = 500 * time.Millisecond
)

// guard sees to it that the files of the name stay this daemon's until it ends:
// somebody may clear /tmp. What is missing is made again. Where the name cannot be
// had again, nobody finds the daemon any more, and it ends. gone has a token when the
// socket was removed.
func (s *Server) guard(gone <-chan struct{}) {
	every := time.NewTicker(guardEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-s.came:
		case <-gone:
			select {
			case <-time.After(guardSettle):
			case <-s.stopped:
				return
			}
		case <-s.stopped:
			return
		}
		if err := s.mend(); err != nil {
			s.log.note("ends: " + err.Error())
			s.stop(false)
			return
		}
	}
}

// mend makes the files again that are missing. The error says why that cannot be.
func (s *Server) mend() error {
	switch err := wire.CheckDir(s.held.dir); {
	case errors.Is(err, fs.ErrNotExist): // whoever removed it all means it
		return err
	case err != nil: // clients refuse it, too, until it is right again
		return nil
	}
	for began := time.Now(); !s.held.retake(s.bound()); <-time.After(look) {
		switch {
		case s.bound():
			return nil // somebody looks at the lock; nobody else takes it
		case time.Since(began) > takeLimit:
			return fmt.Errorf("the name %s was lost", s.id.Name)
		}
	}
	if !s.bound() {
		if err := s.rebind(); err != nil {
			return err
		}
	}
	if id, err := s.held.readState(); err != nil || !id.same(s.id) {
		if err := s.held.writeState(s.id); err != nil {
			s.log.note(err.Error()) // the socket tells the same
		}
	}
	s.log.mend()
	return nil
}

// bound tells whether the socket that has the name is the one we listen on. Held
// by the listener, its file is the same as long as that is open.
func (s *Server) bound() bool {
	now, err := os.Lstat(s.held.socket)
	return err == nil && os.SameFile(s.socket, now)
}

// rebind listens on another socket in the place of one that was removed.
func (s *Server) rebind() error {
	_ = os.Remove(s.held.socket)
	listener, socket, err := s.held.bind()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parted {
		return listener.Close()
	}
	_ = s.listener.Close() // which ends its accept
	s.listener, s.socket = listener, socket
	s.work.Go(func() { s.accept(listener) })
	s.log.note("the files of " + s.id.Name + " were removed, and are there again")
	return nil
}

// bind opens the socket.
func (h *held) bind() (*net.UnixListener, os.FileInfo, error) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: h.socket, Net: "unix"})
	if err != nil {
		return nil, nil, err
	}
	listener.SetUnlinkOnClose(false) // who holds the lock removes it
	err = os.Chmod(h.socket, 0o600)
	info, err2 := os.Lstat(h.socket)
	if err == nil {
		err = err2
	}
	if err != nil {
		_ = listener.Close()
		return nil, nil, err
	}
	return listener, info, nil
}
