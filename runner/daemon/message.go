package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/wire"
)

// message is the body of a Message frame.
type message struct {
	// Do is one of the words below.
	Do string `json:"do"`
	// Name is the hook of a template, Reason why to restart.
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Now has the plugin killed, with stop.
	Now bool `json:"now,omitempty"`
	// TimeoutMS is how long it may take; absent or 0: as long as it takes.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
}

// What a message asks for.
const (
	doStatus   = "status"
	doReady    = "ready" // answered when the daemon is, with the same as status
	doDescribe = "describe"
	doTemplate = "template"
	doProbe    = "probe"
	doRestart  = "restart"
	doStop     = "stop"
	doAttach   = "attach"
	doNews     = "news"
)

// state is the answer to status.
type state struct {
	Identity Identity    `json:"identity"`
	Status   hook.Status `json:"status"`
}

// message answers a message.
func (k *serving) message(body []byte) {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		k.refuse(&hook.Error{Kind: hook.Internal, Err: fmt.Errorf("a message that cannot be read: %w", err)})
		return
	}
	s := k.conn.server
	switch m.Do {
	case doStatus:
		k.reply(s.state(), nil)
		return
	case doStop:
		k.reply(struct{}{}, nil) // before the connection can go
		s.stop(m.Now)
		return
	}
	if k.conn.only {
		k.conn.other()
		return
	}
	ctx := k.ctx
	if m.TimeoutMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, k.began.Add(time.Duration(m.TimeoutMS)*time.Millisecond))
		defer cancel()
	}
	session, failure, err := s.await(ctx)
	switch {
	case failure != nil:
		k.conn.told(k.number, *failure)
	case err != nil:
		k.refuse(hook.Ended(ctx, "", "the plugin was not ready", k.began, false))
	case s.over():
		k.refuse(s.refusal())
	default:
		k.reply(consult(ctx, s, session, m))
	}
}

// consult asks the session what a message wants to know.
func consult(ctx context.Context, s *Server, session Session, m message) (any, error) {
	switch m.Do {
	case doReady:
		return s.state(), nil
	case doDescribe:
		return session.Describe(ctx)
	case doTemplate:
		text, err := session.Template(ctx, m.Name)
		return string(text), err
	case doProbe:
		return struct{}{}, session.Probe(ctx)
	case doRestart:
		defer s.use()()
		err := session.Restart(ctx, m.Reason)
		s.note(true) // what was found before may no longer hold
		return struct{}{}, err
	case doAttach:
		if a, ok := session.(attacher); ok {
			return a.Attach()
		}
	case doNews:
		return s.note(true), nil
	}
	return nil, &hook.Error{Kind: hook.Internal, Err: fmt.Errorf("a message wants %q, which is unknown", m.Do)}
}

// reply answers a message.
func (k *serving) reply(value any, err error) {
	if err != nil {
		k.refuse(err)
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		k.refuse(&hook.Error{Kind: hook.Internal, Err: err})
		return
	}
	k.conn.write(wire.Append(nil, wire.Answer, k.number, text))
}

// state is how it stands with what is served, also while that starts.
func (s *Server) state() state {
	select {
	case <-s.ready:
		if s.session != nil {
			return state{s.id, s.session.Status()}
		}
		return state{s.id, hook.Status{State: hook.StateFailed}}
	default:
		return state{s.id, hook.Status{State: hook.StateStarting, Since: s.id.Started}}
	}
}

// over tells whether no more is taken.
func (s *Server) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}
