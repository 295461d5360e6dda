package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Plugin is the served plugin: a [hook.Plugin], or a part of one.
type Plugin interface {
	hook.Caller
	Hooks(ctx context.Context, q schema.Query) (schema.Schema, error)
	Status(ctx context.Context) (hook.Status, error)
}

// Options say which plugin to serve, and to whom.
type Options struct {
	// In, Out and Gone are for [Server.Run]. Gone is closed when nobody reads answers any more.
	In   io.Reader
	Out  io.Writer
	Gone <-chan struct{}
	// Name and Version describe the server. Instructions are for the model and may be empty.
	Name, Version, Instructions string
	Filter
	// Plugin waits until the plugin is ready with its current files, and returns it for one
	// request. After an error, it is called again for the next request.
	Plugin func(ctx context.Context) (Plugin, error)
	// Kept returns the hooks of the last call of Keep, if the plugin's files have not changed
	// since.
	Kept func(ctx context.Context) ([]schema.Hook, bool)
	Keep func([]schema.Hook)
	// Source returns the hooks in the source of a plugin that does not start.
	Source func(ctx context.Context) []schema.Hook
	// Error completes an error with its hints.
	Error func(error) *hook.Error
}

var errCanceled = errors.New("the client canceled the request")

// Limits of the requests in progress: their number, and the bytes of their parameters.
const (
	maxRequests = 10_000
	maxSize     = 256 << 20
)

// Server serves the tools of a plugin: to one client with Run, or to any number of clients as an
// [http.Handler].
type Server struct {
	o          Options
	refreshing chan struct{} // contains a token while the tools are being read
	ending     chan struct{} // closed by End
	end        func()        // closes ending, once

	mu        sync.Mutex    // protects the following
	slots     chan struct{} // contains a token for each running call, or nil before the first call
	running   int           // number of requests
	size      int           // size of their parameters in bytes
	named     map[requestName]*request
	listeners map[*listener]bool
	tools     []Tool
	listed    json.RawMessage // the tools as JSON
	fresh     bool            // whether tools match the running plugin
	told      json.RawMessage // the list that clients have, or nil
}

// requestName identifies a running request for the notification that cancels it. The session is the
// [*session] on standard input, or the label of a session over HTTP.
type requestName struct {
	session any
	id      string
}

// listener is a client that is notified when the list of tools changes.
type listener struct{ notify func() }

// New returns a server. It does not need the plugin yet.
func New(o Options) *Server {
	ending := make(chan struct{})
	return &Server{
		o: o, refreshing: make(chan struct{}, 1), ending: ending, end: sync.OnceFunc(func() { close(ending) }),
		named: map[requestName]*request{}, listeners: map[*listener]bool{},
	}
}

// End ends the subscriptions and notifies their clients. Other requests continue.
func (s *Server) End() { s.end() }

// begin accepts a request, unless too many are in progress, or another request has its name. The
// request ends with its answer.
func (s *Server) begin(ctx context.Context, r *request) *protocolError {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch name := r.name(); {
	case s.running >= maxRequests || s.size+len(r.Params) > maxSize:
		return fault(internalError, "too many requests are in progress")
	case r.isStateless: // clients over HTTP may share a label, so the same name is no error
	case s.named[name] != nil:
		return fault(invalidRequest, "another request with the id %s is in progress", schema.Short(string(r.ID)))
	}
	if r.session != nil {
		s.named[r.name()] = r
	}
	s.running++
	s.size += len(r.Params)
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return nil
}

// finished removes a request. It reports whether the client has canceled it.
func (s *Server) finished(r *request) (dropped bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	s.size -= len(r.Params)
	if s.named[r.name()] == r {
		delete(s.named, r.name())
	}
	return r.dropped
}

// notified handles a notification of a client. A notification that cancels a request ends its
// context.
func (s *Server) notified(session any, m message) {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if m.method != "notifications/cancelled" || schema.Decode(m.Params, &params) != nil {
		return
	}
	s.mu.Lock()
	r := s.named[requestName{session, string(params.RequestID)}]
	if r != nil {
		r.dropped = true
	}
	s.mu.Unlock()
	if r != nil {
		r.cancel(errCanceled)
	}
}

// listen calls notify whenever the list of tools differs from the list that clients have, until
// stop is called.
func (s *Server) listen(notify func()) (stop func()) {
	l := &listener{notify}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[l] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, l)
	}
}

// assumeListed treats the tools as known to clients, because a client that subscribes may have
// listed them from another instance of the server.
func (s *Server) assumeListed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told == nil {
		s.told = s.listed
	}
}

func (s *Server) info() []byte { return object("name", s.o.Name, "version", s.o.Version) }

// instructed adds the instructions, if there are any, to the pairs of a result.
func (s *Server) instructed(pairs ...any) []any {
	if s.o.Instructions != "" {
		pairs = append(pairs, "instructions", s.o.Instructions)
	}
	return pairs
}
