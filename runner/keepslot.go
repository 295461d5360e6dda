package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/pool"
	"github.com/pyplug/pyplug/runner/supervise"
)

// slot is a supervisor as a pool wants it.
type slot struct{ *supervise.Supervisor }

var _ pool.Slot = slot{}

func (s slot) Acquire(ctx context.Context) (pool.Hold, error) {
	l, err := s.Supervisor.Acquire(ctx)
	switch {
	case err == nil:
		return l, nil
	case ctx.Err() != nil:
		return nil, err // and no *supervise.Lease that is nil
	}
	return nil, s.later(err)
}

// later says of the error of a start that another one follows, if so. That of a
// bootstrap call is no error of the call that waits.
func (s slot) later(err error) error {
	st, e := s.State(), (*hook.Error)(nil)
	if st.State != hook.StateBackoff && st.State != hook.StateStarting || !errors.As(err, &e) {
		return err
	}
	own, cause := *e, e.Err
	if cause == nil {
		cause = errors.New(e.Error())
	}
	if e.Hook != "" {
		own.Kind, cause = hook.Start, fmt.Errorf("%s, called after each start: %w", e.Hook, cause)
	}
	own.Err = &LaterError{Err: cause, Next: st.NextStart}
	return &own
}

func (s slot) TryAcquire() (pool.Hold, bool) {
	l, ok := s.Supervisor.TryAcquire()
	if !ok {
		return nil, false
	}
	return l, true
}

// starter is the launcher that all supervisors of a plugin share. It sees what
// they cannot: that a plugin listens where another instance of it does, and what
// errors a result carries. It is safe for concurrent use.
type starter struct {
	launcher hook.Launcher
	field    string // where results carry errors; empty: nowhere
	// look looks at the plugin's files, for a launcher that keeps what it has
	// read of them; nil for others.
	look func() Snapshot

	mu     sync.Mutex                      // protects following
	files  *Snapshot                       // what the launcher has read; nil before the first start
	anew   bool                            // it is to read all again
	living map[string]*grpcplugin.Instance // by where they listen
	failed error                           // of the start that failed last
}

var _ hook.Launcher = (*starter)(nil)

func (s *starter) Close(ctx context.Context) error { return s.launcher.Close(ctx) }

// Launch starts one instance.
func (s *starter) Launch(ctx context.Context) (hook.Instance, error) {
	s.refresh()
	inst, err := s.launcher.Launch(ctx)
	if err == nil {
		if g, ok := inst.(*grpcplugin.Instance); ok {
			err = s.enter(ctx, g)
		}
	} else {
		err = s.alone(err)
	}
	if err != nil {
		s.mu.Lock()
		s.failed = err
		s.mu.Unlock()
		return nil, err
	}
	if s.field == "" {
		return inst, nil
	}
	return &carrier{Instance: inst, field: s.field}, nil
}

// refresh has the launcher read the plugin anew when its files are not those that
// it has read, and takes down those that it reads next.
func (s *starter) refresh() {
	launcher, ok := s.launcher.(interface{ Renew() })
	if !ok || s.look == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files != nil {
		if !s.anew && len(s.files.Changed()) == 0 {
			return
		}
		launcher.Renew()
	}
	now := s.look()
	s.files, s.anew = &now, false
}

// outdated tells whether the launcher keeps what it has read of the plugin's files, and
// that changed.
func (s *starter) outdated() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files != nil && len(s.files.Changed()) > 0
}

// forget has the next start read the plugin anew, also what is no file of it.
func (s *starter) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.anew = true
}

// lastFailure is the error of the start that failed last, nil without one.
func (s *starter) lastFailure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// enter notes where an instance listens. Where another one does, which Python's
// gRPC allows by default, calls would reach either: the newer one is stopped.
func (s *starter) enter(ctx context.Context, g *grpcplugin.Instance) error {
	at := g.Reattach().Addr.String
	s.mu.Lock()
	other := s.listens(at)
	if other == nil {
		s.living[at] = g
	}
	s.mu.Unlock()
	if other == nil {
		return nil
	}
	_ = g.Stop(ctx) // the error to tell is ours
	<-g.Done()
	return fail(hook.Start, &AloneError{Address: at})
}

// listens is the live instance that listens at an address; any, when that is
// empty; nil for none. s.mu is held.
func (s *starter) listens(at string) *grpcplugin.Instance {
	for where, g := range s.living {
		select {
		case <-g.Done():
			delete(s.living, where)
		default:
			if at == "" || at == where {
				return g
			}
		}
	}
	return nil
}

// inUse is what programs say whose port another one has: Python and Go, gRPC in
// Python, and Windows.
var inUse = []string{"address already in use", "failed to bind to address", "only one usage of each socket address"}

// alone makes a failed start an [*AloneError] when the reason is that another
// instance has the port.
func (s *starter) alone(err error) error {
	e := (*hook.Error)(nil)
	if !errors.As(err, &e) {
		return err
	}
	s.mu.Lock()
	other := s.listens("")
	s.mu.Unlock()
	if other == nil {
		return err
	}
	said := []string{e.Error()}
	if e.Exit != nil {
		said = append(said, e.Exit.Stderr...)
	}
	taken := e.Reason == grpcplugin.ReasonForeignAddress
	for _, line := range said {
		for _, words := range inUse {
			taken = taken || strings.Contains(strings.ToLower(line), words)
		}
	}
	if !taken {
		return err
	}
	own := *e
	own.Err = &AloneError{Address: other.Reattach().Addr.String, Err: err}
	return &own
}

// AloneError says that a gRPC plugin cannot be started beside itself: it listens
// at the same address each time.
type AloneError struct {
	Address string
	// Err is what the start failed by, nil when it came out well.
	Err error
}

// Error names the address.
func (e *AloneError) Error() string {
	text := fmt.Sprintf("the plugin that runs already listens at %s", e.Address)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *AloneError) Unwrap() error { return e.Err }

// isAlone tells whether a start failed only because another instance lives.
func isAlone(err error) bool {
	e := (*AloneError)(nil)
	return errors.As(err, &e)
}

// carrier is an instance some of whose results carry errors.
type carrier struct {
	hook.Instance
	field string
}

func (i *carrier) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	return callCarrying(ctx, i.Instance, i.field, c)
}

// bare is the instance as its launcher made it.
func bare(i hook.Instance) hook.Instance {
	if c, ok := i.(*carrier); ok {
		return c.Instance
	}
	return i
}
