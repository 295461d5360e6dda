package grpcplugin

import (
	"context"
	"fmt"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
)

// ReasonAddressInUse is the reason of a start that failed because another instance of
// the launcher listens where this one would.
const ReasonAddressInUse = "address-in-use"

// register notes where an instance listens. Calls would reach either of two instances
// that listen at the same address, which Python's gRPC allows: the newer one is stopped.
func (l *Launcher) register(ctx context.Context, i *Instance) *hook.Error {
	at := i.evidence.Line.Address
	l.mu.Lock()
	other := l.listening(at)
	if other == nil {
		l.living[at] = i
	}
	l.mu.Unlock()
	if other == nil {
		return nil
	}
	_ = i.Stop(ctx) // the error to report is ours
	return inUse(hook.Error{Kind: hook.Start}, at)
}

// listening returns the live instance that listens at an address, or at any if that is
// empty; nil if there is none. l.mu is held.
func (l *Launcher) listening(at string) *Instance {
	for where, i := range l.living {
		if i.proc.Exited() {
			delete(l.living, where)
		} else if at == "" || at == where {
			return i
		}
	}
	return nil
}

// portTaken is what programs print when another one has their port: Python and Go, gRPC
// in Python, and Windows.
var portTaken = []string{"address already in use", "failed to bind to address", "only one usage of each socket address"}

// explain makes a failed start one of [ReasonAddressInUse] if another instance has the
// port.
func (l *Launcher) explain(e *hook.Error) *hook.Error {
	l.mu.Lock()
	other := l.listening("")
	l.mu.Unlock()
	if other == nil {
		return e
	}
	said := e.Error()
	if e.Exit != nil {
		said += "\n" + strings.Join(e.Exit.Stderr, "\n")
	}
	said = strings.ToLower(said)
	taken := e.Reason == ReasonForeignAddress
	for _, words := range portTaken {
		taken = taken || strings.Contains(said, words)
	}
	if !taken {
		return e
	}
	return inUse(*e, other.evidence.Line.Address)
}

func inUse(e hook.Error, address string) *hook.Error {
	e.Reason, e.Alone, e.Permanent = ReasonAddressInUse, true, false
	e.Err = fmt.Errorf("the running plugin already listens at %s", address)
	e.Hints = append(e.Hints, "listen on port 0 and print the address that the system chose, so that several workers can run")
	return &e
}
