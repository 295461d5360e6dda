package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// Plugin is what is served: a [hook.Plugin], or a part of one.
type Plugin interface {
	hook.Caller
	Hooks(ctx context.Context, q schema.Query) (schema.Schema, error)
	Status(ctx context.Context) (hook.Status, error)
}

// Options says what to serve, and to whom.
type Options struct {
	In  io.Reader
	Out io.Writer
	// Name and Version are those of the server.
	Name, Version string
	Filter
	// Plugin waits until the plugin is ready with its current files, and returns it for one
	// request. After an error, it is called again for the next request.
	Plugin func(ctx context.Context) (Plugin, error)
	// Kept returns the hooks of the last call of Keep, if the plugin's files have not
	// changed since.
	Kept func(ctx context.Context) ([]schema.Hook, bool)
	Keep func([]schema.Hook)
	// Source returns the hooks that the source shows, for a plugin that does not start.
	Source func(ctx context.Context) []schema.Hook
	// Error completes an error with its hints.
	Error func(error) *hook.Error
	// Gone is closed when nobody is there to read answers.
	Gone <-chan struct{}
}

const (
	// drainLimit is the time that requests get to finish after the input ends.
	drainLimit = 500 * time.Millisecond
	// answerLimit is the time that canceled requests get to be answered.
	answerLimit = 100 * time.Millisecond
)

var (
	errCanceled = errors.New("the client canceled the request")
	errStopping = errors.New("the session is over")
)

// The requests that may wait at once, and the bytes of their parameters.
const (
	mostRequests = 10_000
	mostSize     = 256 << 20
)

// Server is one session over standard input and output.
type Server struct {
	o        Options
	requests sync.WaitGroup
	lost     chan struct{} // closed when the output cannot be written

	out        sync.Mutex    // held while a message is written
	refreshing chan struct{} // has a token while the tools are read

	slotsOnce sync.Once
	slots     chan struct{} // has a token for each call that runs

	mu        sync.Mutex // protects the following
	session   string     // the version of initialize; empty before it
	running   map[string]*request
	size      int             // of the arguments of those that run, in bytes
	listeners map[string]bool // by the id of the subscription: whether it is about the tools
	tools     []Tool
	fresh     bool            // tools are those of the plugin as it runs
	told      json.RawMessage // the list that the client has; nil if it has none
}

// New returns a server. Call its Run.
func New(o Options) *Server {
	return &Server{
		o: o, lost: make(chan struct{}), refreshing: make(chan struct{}, 1), running: map[string]*request{}, listeners: map[string]bool{},
	}
}

// Run serves until the input ends, ctx ends, or the client is gone. It does not stop the plugin.
func (s *Server) Run(ctx context.Context) {
	calls, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(errStopping)
	ended := make(chan struct{})
	go func() { // ends with the input, or with the process
		defer close(ended)
		s.read(calls)
	}()
	go s.load(calls) // ends with calls
	drain := drainLimit
	select {
	case <-ended:
	case <-ctx.Done():
	case <-s.lost:
		drain = 0
	case <-s.o.Gone:
		drain = 0
	}
	idle := make(chan struct{})
	go func() { // ends with the requests; each of them ends with calls
		defer close(idle)
		s.requests.Wait()
	}()
	if !hook.Within(idle, drain) {
		cancel(errStopping)
		hook.Within(idle, answerLimit)
	}
	if drain > 0 {
		s.endListeners()
	}
}

// read handles one line after the other.
func (s *Server) read(ctx context.Context) {
	from := lines.NewReader(s.o.In, largestLine, false)
	for {
		line, err := from.Next()
		var long *hook.Error
		switch line = bytes.TrimSpace(line); {
		case errors.As(err, &long):
			s.write(failure(nil, fault(parseError, "%v", long)))
			continue
		case err != nil:
			return
		case len(line) == 0:
			continue
		}
		line = bytes.TrimPrefix(line, []byte(hook.ByteOrderMark)) // a client may begin each message with it
		if err := schema.CheckValue(line); err != nil {
			s.write(failure(nil, fault(parseError, "the line is %v", err)))
			continue
		}
		if line[0] == '[' {
			s.batch(ctx, line)
			continue
		}
		s.handle(ctx, line, s.write)
	}
}

// batch handles several messages on one line, which one version of the protocol has. The answers
// are one array.
func (s *Server) batch(ctx context.Context, line []byte) {
	var messages []json.RawMessage
	if s.session != "2025-03-26" || json.Unmarshal(line, &messages) != nil || len(messages) == 0 {
		s.write(failure(nil, fault(invalidRequest, "a batch is not supported by this version of the protocol")))
		return
	}
	var mu sync.Mutex
	var answers [][]byte
	left := len(messages)
	for _, text := range messages {
		s.handle(ctx, text, func(answer []byte) {
			mu.Lock()
			defer mu.Unlock()
			if left--; answer != nil {
				answers = append(answers, answer)
			}
			if left == 0 && answers != nil {
				s.write(slices.Concat([]byte("["), bytes.Join(answers, []byte(",")), []byte("]")))
			}
		})
	}
}

// handle handles one message. It calls reply once: with the answer, or with nil if there is none.
func (s *Server) handle(ctx context.Context, text []byte, reply func([]byte)) {
	m, err := parse(text)
	switch {
	case err == nil && m.isAnswer():
		reply(nil)
		return
	case m.ID == nil && m.method != "": // a malformed notification has no answer, either
		s.notified(m)
		reply(nil)
		return
	}
	if err == nil {
		err = s.admit(m)
	}
	if err != nil {
		reply(failure(m.ID, err))
		return
	}
	switch m.method {
	case "initialize":
		reply(s.initialize(m))
	case "ping":
		reply(s.result(m))
	case "server/discover":
		reply(s.result(m, "supportedVersions", []byte(`["`+modern+`"]`), "capabilities", []byte(capabilities), "ttlMs", 0, "cacheScope", "private"))
	case "subscriptions/listen":
		s.listen(m)
		reply(nil) // the answer comes when it ends
	default:
		s.begin(ctx, m, reply)
	}
}

// admit returns an error if the era of the client does not have the method, if another
// unanswered request has the same id, or if there are too many requests.
func (s *Server) admit(m message) *protocolError {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.method {
	case "initialize":
	case "ping":
		if m.isModern {
			return fault(noMethod, "no method %q in version %s", m.method, modern)
		}
	case "server/discover", "subscriptions/listen":
		if !m.isModern {
			return missingMeta(versionKey)
		}
	case "tools/list", "tools/call":
		if !m.isModern && s.session == "" {
			return missingMeta(versionKey)
		}
	default:
		return fault(noMethod, "no method %q", schema.Short(m.method))
	}
	_, listens := s.listeners[string(m.ID)]
	switch {
	case len(s.running) >= mostRequests || s.size+len(m.Params) > mostSize:
		return fault(internalError, "too many requests are not answered yet")
	case listens, s.running[string(m.ID)] != nil:
		return fault(invalidRequest, "another request with the id %s is not answered yet", schema.Short(string(m.ID)))
	}
	return nil
}

// begin handles a request that needs the plugin.
func (s *Server) begin(ctx context.Context, m message, reply func([]byte)) {
	r := &request{message: m, s: s, reply: reply}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	s.mu.Lock()
	s.running[string(m.ID)] = r
	s.size += len(m.Params)
	s.mu.Unlock()
	s.requests.Go(func() { // ends when the plugin answers, or soon after r.ctx
		defer r.cancel(nil)
		if m.method == "tools/list" {
			r.list()
		} else {
			r.call()
		}
	})
}

const capabilities = `{"tools":{"listChanged":true}}`

// initialize begins a session.
func (s *Server) initialize(m message) []byte {
	var params struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	err := read(m.Params, &params, invalidParams, "params", "an object with a text as its protocolVersion")
	if err == nil && params.ProtocolVersion == "" {
		err = fault(invalidParams, "protocolVersion is missing, want a text")
	}
	if err != nil {
		return failure(m.ID, err)
	}
	version := params.ProtocolVersion
	if !slices.Contains(legacy, version) {
		version = legacy[0] // the newest
	}
	s.mu.Lock()
	s.session = version
	s.mu.Unlock()
	m.isModern = false // a session is of the other era
	return s.result(m, "protocolVersion", version, "capabilities", []byte(capabilities), "serverInfo", s.info())
}

func (s *Server) info() []byte { return object("name", s.o.Name, "version", s.o.Version) }

// notified handles a notification.
func (s *Server) notified(m message) {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if m.method != "notifications/cancelled" || schema.Decode(m.Params, &params) != nil {
		return
	}
	s.mu.Lock()
	r := s.running[string(params.RequestID)]
	delete(s.listeners, string(params.RequestID))
	if r != nil {
		r.dropped = true
	}
	s.mu.Unlock()
	if r != nil {
		r.cancel(errCanceled)
	}
}

// result is the answer to a request. pairs are those of [object].
func (s *Server) result(m message, pairs ...any) []byte {
	if m.isModern {
		pairs = append([]any{"resultType", "complete"}, append(pairs, "_meta", object(serverKey, s.info()))...)
	}
	return object("jsonrpc", "2.0", "id", m.ID, "result", object(pairs...))
}

// failure is the answer to a request that failed; id may be nil.
func failure(id json.RawMessage, err *protocolError) []byte {
	text, _ := hook.Marshal(err) // our own shape
	if id == nil {
		return object("jsonrpc", "2.0", "error", text)
	}
	return object("jsonrpc", "2.0", "id", id, "error", text)
}

// notify sends a notification.
func (s *Server) notify(name string, params []byte) {
	s.write(object("jsonrpc", "2.0", "method", "notifications/"+name, "params", params))
}

// write writes a message. If nobody reads it, the session ends. nil is no message.
func (s *Server) write(text []byte) {
	if text == nil {
		return
	}
	s.out.Lock()
	defer s.out.Unlock()
	if hook.IsClosed(s.lost) {
		return
	}
	if _, err := s.o.Out.Write(append(text, '\n')); err != nil {
		close(s.lost)
	}
}

// listen opens a subscription. It is answered when it ends.
func (s *Server) listen(m message) {
	var params struct {
		Notifications struct {
			ToolsListChanged bool `json:"toolsListChanged"`
		} `json:"notifications"`
	}
	if err := read(m.Params, &params, invalidParams, "params", "an object with a filter as its notifications"); err != nil {
		s.write(failure(m.ID, err))
		return
	}
	filter := []byte("{}")
	if params.Notifications.ToolsListChanged {
		filter = object("toolsListChanged", true)
	}
	s.notify("subscriptions/acknowledged", object("_meta", object(subscriptionKey, m.ID), "notifications", filter))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[string(m.ID)] = params.Notifications.ToolsListChanged
}

// endListeners ends the subscriptions: their clients learn that.
func (s *Server) endListeners() {
	s.mu.Lock()
	listeners := s.listeners
	s.listeners = map[string]bool{}
	s.mu.Unlock()
	for id := range listeners {
		id := json.RawMessage(id)
		s.write(object("jsonrpc", "2.0", "id", id, "result", object("resultType", "complete", "_meta", object(subscriptionKey, id))))
	}
}
