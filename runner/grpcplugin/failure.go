package grpcplugin

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// slack is how much earlier than we a server may see a call's deadline pass.
const slack = 100 * time.Millisecond

// leastPatience is what a plugin has at least to answer after a call was given up.
const leastPatience = 200 * time.Millisecond

// patience is how long a plugin may be silent after a call was given up: a quarter
// of what the call had, so that the calls that wait for the verdict do not lose all
// of theirs to it, and no longer than any probe.
func (k *call) patience() time.Duration {
	deadline, bounded := k.ctx.Deadline()
	if !bounded {
		return probeLimit
	}
	return min(max(deadline.Sub(k.began)/4, leastPatience), probeLimit)
}

// refused is an error in what the caller gave.
func (k *call) refused(err error) *hook.Error {
	if own := (*hook.Error)(nil); errors.As(err, &own) {
		e := *own
		e.Hook = k.Hook
		return &e
	}
	return &hook.Error{Kind: hook.Request, Hook: k.Hook, Err: err}
}

// failed is an answer that cannot be used.
func (k *call) failed(err error) *hook.Error {
	return &hook.Error{Kind: hook.Failed, Hook: k.Hook, Begun: true, Err: err}
}

// notEmitted tells why the receiver of the items gave the call up.
func (k *call) notEmitted(err error) *hook.Error {
	k.interrupted = true
	if own := (*hook.Error)(nil); errors.As(err, &own) {
		e := *own
		e.Hook, e.Begun = k.Hook, true
		return &e
	}
	return &hook.Error{Kind: hook.Canceled, Hook: k.Hook, Begun: true, Err: err}
}

// failure tells why gRPC ended a call.
func (k *call) failure(err error) *hook.Error {
	if k.codec.unread != nil {
		return k.failed(k.codec.unread)
	}
	s := status.Convert(err)
	if fault := k.ownFault(); fault != nil && !k.said.Load() {
		return fault
	}
	if ranOut(k.ctx, s.Code()) || k.ctx.Err() != nil && !k.said.Load() {
		k.interrupted = true
		return hook.Ended(k.ctx, k.Hook, "no result", k.began, true)
	}
	if large := answerTooLarge(s, k.cfg.MaxMessage); large != nil {
		return k.failed(large)
	}
	if k.said.Load() {
		return k.answer(s)
	}
	return k.lost(s)
}

// ranOut tells whether a call ended with a code because the deadline of ctx
// passed, and returns when it has. A server, which knows the deadline, may see
// it pass a moment before we do; long before, DEADLINE_EXCEEDED is its own word.
func ranOut(ctx context.Context, code codes.Code) bool {
	deadline, bounded := ctx.Deadline()
	if code != codes.DeadlineExceeded || !bounded || time.Until(deadline) > slack {
		return false
	}
	<-ctx.Done() // at the deadline, at the latest
	return true
}

// answer is the status that the plugin answered with.
func (k *call) answer(s *status.Status) *hook.Error {
	e := &hook.Error{Kind: hook.Failed, Hook: k.Hook, Begun: true, Status: newStatus(s, k.set), Err: statusText(s)}
	if s.Code() == codes.Unimplemented {
		e.Kind = hook.Request
		e.Err = &schema.NoHookError{Hook: k.Hook, Why: "the plugin does not implement " + k.method.Name()}
	}
	return e
}

// ownWords is a message of gRPC's Go side without its prefix.
func ownWords(s *status.Status) string {
	return strings.TrimPrefix(s.Message(), "grpc: ")
}

// lost tells of a call whose connection broke. Only the process's exit makes it
// a crash; a plugin that lives and answers has failed the call alone.
func (k *call) lost(s *status.Status) *hook.Error {
	if k.asked() {
		return &hook.Error{Kind: hook.Canceled, Hook: k.Hook, Begun: true, Err: errStopped}
	}
	if !k.diedWithin(lostLimit) {
		ctx, cancel := context.WithTimeout(context.Background(), probeLimit)
		defer cancel()
		began := time.Now()
		if k.verdict(ctx, ask(ctx, k.conn, k.cfg.Service), began) == nil {
			return &hook.Error{Kind: hook.Failed, Hook: k.Hook, Begun: true, Status: newStatus(s, nil), Err: statusText(s)}
		}
		k.condemn()
		return &hook.Error{Kind: hook.Crash, Hook: k.Hook, Begun: true,
			Err: errors.New("the connection to the plugin broke: " + ownWords(s))}
	}
	<-k.done // attend closes it now: who is told of a crash finds the instance gone
	exit := k.Exit()
	e := &hook.Error{Kind: hook.Crash, Hook: k.Hook, Begun: true, Exit: &exit, At: hook.StackFrames(exit.Stderr), Err: errCrashed}
	k.Instance.mu.Lock()
	condemned := k.condemned
	k.Instance.mu.Unlock()
	switch {
	case condemned:
		e.Err = errors.New("the plugin was killed because another call did not end")
	case exit.Stopped:
		e.Kind, e.Err = hook.Canceled, errStopped
	}
	return e
}

// lostConnection tells whether gRPC's own word for a broken connection ended a
// call.
func lostConnection(err error) bool { return status.Code(err) == codes.Unavailable }
