package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/schema"
)

// stopRequest is a client's request to stop.
type stopRequest struct {
	by    string        // who asked, for the log
	calls time.Duration // how long running calls may continue; a negative value means the default
}

// serveStop answers when the name is free, which is when the process tree is gone.
func (s *Server) serveStop(_ http.ResponseWriter, r *http.Request) (any, error) {
	query := r.URL.Query()
	request := &stopRequest{by: cmp.Or(query.Get("reason"), "a client requested it"), calls: -1}
	if query.Has("timeout") {
		request.calls, _ = schema.ParseDuration(query.Get("timeout")) // check has accepted it
	}
	if !s.requested.CompareAndSwap(nil, request) && request.calls >= 0 { // the first request may have allowed more time
		defer time.AfterFunc(request.calls, s.kill).Stop()
	}
	s.stop(stoppingError(s.id.Name))
	if query.Get("now") != "" {
		s.kill()
	}
	<-s.released
	return json.RawMessage(`{"schema":1,"stopped":["` + s.id.Name + `"]}`), nil
}

// stopReason says why Serve ends. ctx is Serve's context.
func (s *Server) stopReason(ctx context.Context) string {
	if request := s.requested.Load(); request != nil {
		return request.by
	}
	var signal interface{ SignalName() string }
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return "no call for " + schema.Span(s.opts.IdleExit)
	case errors.As(cause, &signal):
		return signal.SignalName()
	default:
		reason, _, _ := strings.Cut(cause.Error(), "\n")
		return reason
	}
}

// limitCalls tells the plugin how long running calls may continue, if a client set that. It
// returns how long requests may continue.
func (s *Server) limitCalls() time.Duration {
	request := s.requested.Load()
	if request == nil || request.calls < 0 || s.opts.LimitClose == nil {
		return stopRequests
	}
	s.opts.LimitClose(request.calls)
	return request.calls + afterCalls
}

// release removes the files, releases the name and ends all connections after their
// answers.
func (s *Server) release() {
	if s.held != nil && s.held.owns() {
		_ = os.Remove(s.held.socket())
		<-time.After(lastAccepts)
	}
	s.held.release()
	close(s.released)
	s.endRequests(stoppingError(s.id.Name))
	s.kill()
	ctx, cancel := context.WithTimeout(context.Background(), lastAnswers)
	defer cancel()
	for _, server := range []*http.Server{s.tcp, s.http} {
		if server != nil && server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	}
	s.log.note(endMark + s.ended)
	_ = s.log.Close()
}
