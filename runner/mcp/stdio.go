package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

const (
	// drainLimit is how long requests may take to finish after the input ends.
	drainLimit = 500 * time.Millisecond
	// answerLimit is how long canceled requests may take to be answered.
	answerLimit = 100 * time.Millisecond
)

var errStopping = errors.New("the session is over")

// session is the client of one server on standard input and output.
type session struct {
	*Server
	requests sync.WaitGroup
	out      sync.Mutex    // held while a message is written
	lost     chan struct{} // closed when the output cannot be written
	version  string        // the version that initialize chose, or empty before it
}

func (s *Server) newSession() *session { return &session{Server: s, lost: make(chan struct{})} }

// Run serves until the input ends, ctx ends, or the client is gone. It does not stop the plugin.
func (s *Server) Run(ctx context.Context) { s.newSession().run(ctx) }

func (s *session) run(ctx context.Context) {
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
	if drain > 0 {
		s.End()
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
}

// read handles the lines in order.
func (s *session) read(ctx context.Context) {
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
		line = bytes.TrimPrefix(line, []byte(hook.ByteOrderMark)) // a client may begin each message with a byte order mark
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

// batch handles several messages on one line, which only one version of the protocol has. The
// answers are one array.
func (s *session) batch(ctx context.Context, line []byte) {
	var messages []json.RawMessage
	if s.version != "2025-03-26" || schema.Decode(line, &messages) != nil || len(messages) == 0 {
		s.write(failure(nil, fault(invalidRequest, noBatch)))
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

// handle handles one message. It calls reply once, with the answer, or with nil if there is none.
func (s *session) handle(ctx context.Context, text []byte, reply func([]byte)) {
	m, err := parse(text)
	switch {
	case err == nil && m.isAnswer():
		reply(nil)
		return
	case m.ID == nil && m.method != "": // a malformed notification has no answer either
		s.notified(s, m)
		reply(nil)
		return
	}
	if err == nil {
		err = m.isKnown()
	}
	if err == nil && !m.isModern && s.version == "" && m.waits() {
		err = missingMeta(versionKey)
	}
	r := &request{message: m, s: s.Server, session: s, opened: s.opened, send: s.write, reply: reply}
	if err == nil {
		err = s.begin(ctx, r)
	}
	switch {
	case err != nil:
		reply(failure(m.ID, err))
	case m.waits():
		s.requests.Go(r.serve) // ends when the plugin answers, or soon after ctx
	default:
		r.serve()
	}
}

// opened begins the session of the protocol. From then on the client is notified of changes.
func (s *session) opened(version string) {
	if s.version == "" {
		s.listen(func() { s.write(notification("tools/list_changed", []byte("{}"))) })
	}
	s.version = version
}

// write writes a message. If nobody reads it, the session ends. It ignores a nil message.
func (s *session) write(text []byte) {
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
