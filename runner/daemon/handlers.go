package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/pyplug/pyplug/runner/daemon/access"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/schema"
)

// The headers of the protocol.
const (
	apiHeader   = "Pyplug-Api"   // the protocol's version
	soleHeader  = "Pyplug-Sole"  // the field of a message that --raw prints, see [hook.Item]
	notesHeader = "Pyplug-Notes" // a JSON array of texts, in ASCII
)

// The media types of the protocol.
const (
	jsonType   = "application/json"
	streamType = "application/x-ndjson"
	bytesType  = "application/octet-stream"
	wordsType  = "application/vnd.pyplug.words+json" // words as arguments
)

// healthBody is the answer to a health request. With ?watch=1 it is one line of the answer.
type healthBody struct {
	Schema  int         `json:"schema"`
	Healthy bool        `json:"healthy"`
	State   string      `json:"state,omitempty"` // only over TCP
	Error   *hook.Error `json:"error,omitempty"`
}

// statusBody is the answer to GET /status.
type statusBody struct {
	Schema   int         `json:"schema"`
	Identity Identity    `json:"identity"`
	Status   hook.Status `json:"status"`
	Notes    []string    `json:"notes,omitempty"`
	// Series reports whether POST /calls makes calls.
	Series bool `json:"series,omitempty"`
}

// healthEvery is the interval between the probes of a health request with ?watch=1.
const healthEvery = time.Second

// answerer returns the value or the error with which its caller answers a request. It returns
// neither if it has already written the answer. The request's context ends with the connection, or
// after ?timeout.
type answerer func(w http.ResponseWriter, r *http.Request) (value any, err error)

// requests returns the requests of the socket, by path and method.
func (s *Server) requests() map[string]map[string]answerer {
	return map[string]map[string]answerer{
		"/hooks":   {"GET": s.withPlugin(serveHooks), "POST": s.serveCall},
		"/calls":   {"POST": s.serveCalls, "DELETE": s.serveHandBack},
		"/health":  {"GET": s.serveHealth},
		"/livez":   {"GET": serveLive},
		"/metrics": {"GET": s.serveMetrics},
		openAPI:    {"GET": s.withPlugin(s.serveOpenAPI)},
		"/status":  {"GET": s.serveStatus},
		"/events":  {"GET": s.withPlugin(s.serveEvents)},
		"/restart": {"POST": s.withPlugin(s.serveRestart)},
		"/stop":    {"POST": s.serveStop},
	}
}

// handler answers requests as docs/http.md documents them. It does not use [http.ServeMux], because
// that redirects some paths.
func (s *Server) handler(requests map[string]map[string]answerer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.recover(w, r)
		w.Header().Set(apiHeader, strconv.Itoa(API))
		// An earlier request on this connection may have left a deadline.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		path, method := r.URL.Path, r.Method
		if name, ok := strings.CutPrefix(path, "/hooks/"); ok {
			path = "/hooks"
			r.SetPathValue("hook", name)
		}
		if method == http.MethodHead {
			method = http.MethodGet
		}
		answer := requests[path][method]
		var value any
		limit, err := s.check(r)
		if path == "/calls" {
			limit = 0 // each call has its own limit
		}
		switch {
		case err != nil:
		case answer == nil:
			s.writeUnknown(w, r, requests[path])
		default:
			ctx, cancel := hook.WithLimit(r.Context(), limit)
			defer cancel()
			value, err = answer(w, r.WithContext(ctx))
		}
		switch {
		case err != nil:
			s.writeError(w, r, err)
		case value != nil:
			writeJSON(w, http.StatusOK, value)
		}
	})
}

// check rejects a request with another version of the protocol or a malformed query. It returns the
// time limit of the request: ?timeout, otherwise the default limit if the request is a call. The
// value 0 means no limit.
func (s *Server) check(r *http.Request) (limit time.Duration, err error) {
	if api := r.Header.Get(apiHeader); api != "" && api != strconv.Itoa(API) {
		return 0, versionError(s.id.Name, s.id)
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return 0, hook.NewError(hook.Request, fmt.Errorf("the query %q: %w", r.URL.RawQuery, err))
	}
	if name := closedQuery(query); isTCP(r) && name != "" {
		return 0, hook.NewError(hook.Request, fmt.Errorf("the query has %s, which only the socket accepts", name))
	}
	switch text := query.Get("timeout"); {
	case text != "":
		var ok bool
		if limit, ok = schema.ParseDuration(text); !ok {
			err = hook.NewError(hook.Request, fmt.Errorf("timeout is %q, expected a duration such as 30s, 2m or a number of seconds", text))
		}
	case r.Method == http.MethodPost && (r.PathValue("hook") != "" || r.URL.Path == "/calls"):
		limit = s.opts.CallTimeout
	}
	if most := s.opts.CallTimeout; isTCP(r) && r.PathValue("hook") != "" && most > 0 && (limit > most || limit == 0) {
		limit = most
	}
	return limit, err
}

// recover answers a request whose handler panicked, and logs the panic.
func (s *Server) recover(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		s.log.note(err.Error())
		s.writeError(w, r, hook.NewError(hook.Internal, err))
	}
}

// writeUnknown answers a request with an unknown path, or with a method that a known path does not
// have. The hints name the request that was probably meant.
func (s *Server) writeUnknown(w http.ResponseWriter, r *http.Request, methods map[string]answerer) {
	e := hook.NewError(hook.Request, errors.New("no such request: "+r.Method+" "+r.URL.Path))
	status := http.StatusNotFound
	name := strings.Trim(r.URL.EscapedPath(), "/")
	_, other := s.requests()["/"+name] // the path has an extra slash, or only the socket serves it
	switch allowed := slices.Sorted(maps.Keys(methods)); {
	case len(allowed) > 0:
		status = http.StatusMethodNotAllowed
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		e.Hints = schema.Hints("send %s %s", strings.Join(allowed, " or "), r.URL.EscapedPath())
	case !other:
		e.Hints = schema.Hints("send POST /hooks/%s to call a hook", schema.Short(cmp.Or(name, "HOOK")))
	}
	e.Hints = append(e.Hints, schema.Hintf("run %s to list the requests", schema.Command{"help", "http"}))
	writeJSON(w, status, wire.Failed(e))
}

// statuses maps kinds of errors to HTTP statuses. All other kinds have the status 500.
var statuses = map[hook.Kind]int{
	hook.Failed: http.StatusUnprocessableEntity, hook.Request: http.StatusBadRequest,
	hook.Timeout: http.StatusGatewayTimeout, hook.Crash: http.StatusBadGateway,
	hook.Unavailable: http.StatusServiceUnavailable, hook.Unhealthy: http.StatusServiceUnavailable,
	hook.Canceled: 499, // the client closed the request
}

// statusOf returns the HTTP status for an error.
func statusOf(e *hook.Error) int {
	switch refusal := (*access.Refusal)(nil); {
	case errors.As(e.Err, &refusal):
		return refusal.Status
	case e.Reason == "no-hook":
		return http.StatusNotFound
	case e.Kind == hook.Unavailable && e.Begun:
		return http.StatusBadGateway // not 503, after which a client may send the request again
	}
	return cmp.Or(statuses[e.Kind], http.StatusInternalServerError)
}

// complete returns an error in the form for the sender of a request.
func (s *Server) complete(r *http.Request, err error) *hook.Error {
	if isTCP(r) {
		return Public(hook.AsError(err))
	}
	return s.opts.Complete(err)
}

// writeError writes an error as the answer.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	e := s.complete(r, err)
	status := statusOf(e)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, status, wire.Failed(e))
}

// writeJSON writes a value as the answer.
func writeJSON(w http.ResponseWriter, status int, value any) {
	line, err := hook.Marshal(value)
	if err != nil {
		panic("a shape of ours is not JSON: " + err.Error())
	}
	line = append(line, '\n')
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(line)))
	w.WriteHeader(status)
	_, _ = w.Write(line) // ignore the error: the client is gone
}

// withPlugin calls serve with the plugin after the plugin has started.
func (s *Server) withPlugin(serve func(p hook.Plugin, w http.ResponseWriter, r *http.Request) (any, error)) answerer {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		p, err := s.await(r.Context(), "")
		if err != nil {
			return nil, err
		}
		return serve(p, w, r)
	}
}

func serveHooks(p hook.Plugin, _ http.ResponseWriter, r *http.Request) (any, error) {
	return p.Hooks(r.Context(), schema.Query{Hook: r.PathValue("hook"), Input: r.URL.Query().Get("input") != ""})
}

func (s *Server) serveRestart(p hook.Plugin, _ http.ResponseWriter, r *http.Request) (any, error) {
	defer s.use()()
	reason := cmp.Or(r.URL.Query().Get("reason"), "a client requested a restart")
	return json.RawMessage(`{"schema":1,"restarted":true}`), p.Restart(r.Context(), reason)
}

// serveHealth answers 200 or 503. With ?watch=1 it writes a line with the current health, and one
// for each change.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) (any, error) {
	ctx, watched := r.Context(), r.URL.Query().Get("watch") != ""
	if s.draining.Load() {
		return nil, stoppingError(s.id.Name)
	}
	if err := s.notReady(""); err != nil && !watched {
		return nil, err
	}
	p, err := s.await(ctx, "")
	switch {
	case err != nil:
		return nil, err
	case watched:
		s.watchHealth(ctx, p, w)
		return nil, nil
	}
	if err := p.Health(ctx); err != nil {
		writeJSON(w, http.StatusServiceUnavailable, wire.Failed(s.complete(r, err)))
		return nil, nil
	}
	return healthBody{Schema: 1, Healthy: true}, nil
}

// watchHealth writes a line with the current health, and one for each change until ctx ends.
func (s *Server) watchHealth(ctx context.Context, p hook.Plugin, w http.ResponseWriter) {
	out := newLineWriter(ctx, w)
	defer out.close()
	for last := "not asked yet"; ; {
		line, now := healthBody{Schema: 1, Healthy: true}, ""
		if err := p.Health(ctx); err != nil {
			line, now = healthBody{Schema: 1, Error: s.opts.Complete(err)}, err.Error()
		}
		if ctx.Err() != nil || now != last && out.write(line) != nil {
			return
		}
		last = now
		if hook.Within(ctx.Done(), healthEvery) {
			return
		}
	}
}

// serveEvents writes a line for each transition.
func (s *Server) serveEvents(p hook.Plugin, w http.ResponseWriter, r *http.Request) (any, error) {
	out := newLineWriter(r.Context(), w)
	defer out.close()
	events := p.Events(r.Context()) // subscribe before the client receives the header
	w.Header().Set("Content-Type", streamType)
	_ = out.control.Flush() // the next write returns the error
	for event, err := range events {
		var line any = json.RawMessage(wire.Event(s.id.Name, event))
		if err != nil {
			line = wire.Failed(hook.AsError(err))
		}
		if out.write(line) != nil {
			break
		}
	}
	return nil, nil
}

// serveStatus answers at once, even while the plugin starts. With ?ready=1 it answers
// when the start is over, with the start's error if it failed. With ?stacks=1 it says where
// running calls are.
func (s *Server) serveStatus(_ http.ResponseWriter, r *http.Request) (value any, err error) {
	if r.URL.Query().Get("ready") != "" {
		if _, err := s.await(r.Context(), ""); err != nil {
			return nil, err
		}
	}
	body := statusBody{Schema: 1, Identity: s.id, Series: s.opts.Series}
	if s.opts.Notes != nil && hook.IsClosed(s.ready) {
		body.Notes = s.opts.Notes()
	}
	body.Status, err = s.status(r.Context())
	if calls := body.Status.RunningCalls; len(calls) > 0 && s.opts.Locate != nil && r.URL.Query().Get("stacks") != "" {
		s.opts.Locate(calls)
	}
	return body, err
}

// status returns the plugin's status at once, even while the plugin starts.
func (s *Server) status(ctx context.Context) (hook.Status, error) {
	switch {
	case !hook.IsClosed(s.ready):
		st := hook.Status{State: hook.StateStarting, Since: s.id.Started}
		if why := s.notReady(""); why != nil {
			st.Reason = why.Error()
		}
		return st, nil
	case s.failure != nil:
		return hook.Status{State: hook.StateFailed, Reason: s.failure.Error()}, nil
	}
	st, err := s.plugin.Status(ctx)
	if s.draining.Load() && st.State.Takes() {
		st.State, st.Reason = hook.StateStopping, "calls are still accepted"
	}
	return st, err
}

// ascii returns texts as a JSON array in ASCII, for a header.
func ascii(texts []string) string {
	line, _ := json.Marshal(texts)
	var b strings.Builder
	for _, c := range utf16.Encode([]rune(string(line))) {
		if c < 0x80 {
			b.WriteByte(byte(c))
		} else {
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}
