package daemon

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/pyplug/pyplug/runner/daemon/access"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/metrics"
	"github.com/pyplug/pyplug/runner/openapi"
	"github.com/pyplug/pyplug/runner/schema"
)

// longestDrain is how long a stop waits at most for calls that have no timeout.
const longestDrain = 2 * time.Minute

// serveTCP serves the requests over TCP. The listeners end with the server.
func (s *Server) serveTCP() {
	all := s.requests()
	open := map[string]map[string]answerer{
		"/hooks":   all["/hooks"],
		"/health":  {"GET": s.serveReadiness},
		"/livez":   all["/livez"],
		"/metrics": all["/metrics"],
		openAPI:    all[openAPI],
	}
	if s.opts.MCP != nil {
		open["/mcp"] = map[string]answerer{"POST": s.serveMCP}
	}
	h := s.opts.Access.Handler(s.handler(open), func(w http.ResponseWriter, r *http.Request, why *access.Refusal) {
		w.Header().Set(apiHeader, strconv.Itoa(API))
		writeJSON(w, why.Status, wire.Failed(hook.NewError(hook.Request, why)))
	})
	s.tcp = s.newHTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&drainWriter{ResponseWriter: w, draining: &s.draining}, r.WithContext(context.WithValue(r.Context(), tcpKey{}, true)))
	}))
	s.opts.Access.Limits(s.tcp)
	for _, l := range s.opts.Access.Listeners() {
		go func() { _ = s.tcp.Serve(l) }() // ends with the server
	}
}

// newHTTP returns a server whose requests end with the daemon.
func (s *Server) newHTTP(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerLimit, ErrorLog: log.New(s.log, "", 0),
		BaseContext:                  func(net.Listener) context.Context { return s.ctx },
		DisableGeneralOptionsHandler: true,
	}
}

// drainWriter makes an answer that begins during a stop close its connection, so that the client
// connects elsewhere.
type drainWriter struct {
	http.ResponseWriter
	draining *atomic.Bool
	began    bool
}

func (w *drainWriter) WriteHeader(status int) {
	if !w.began && w.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	w.began = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *drainWriter) Write(b []byte) (int, error) {
	if !w.began {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (w *drainWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type tcpKey struct{}

// isTCP reports whether a request came over TCP.
func isTCP(r *http.Request) bool { return r.Context().Value(tcpKey{}) != nil }

// closedQuery returns a key in the query that only the socket accepts, or "".
func closedQuery(query url.Values) string {
	for _, key := range []string{"replay", "watch", "input"} {
		if query.Has(key) {
			return key
		}
	}
	return ""
}

// largest returns the size of the largest message of a client stream, and the error for a larger
// one.
func (s *Server) largest(r *http.Request) (int, error) {
	if isTCP(r) {
		return s.opts.Access.LargestMessage()
	}
	return maxBody, errTooLarge
}

// Public returns an error without details that only the plugin's owner should see. It keeps only
// the last frame of a traceback. It removes the plugin's output and the reason why the plugin does
// not start.
func Public(e *hook.Error) *hook.Error {
	own := *e
	own.Tried, own.Drawing, own.At, own.Plugin = nil, nil, last(e.At), ""
	if e.Kind != hook.Request {
		own.Hints = nil // hints are for the plugin's owner
	}
	switch e.Kind {
	case hook.Start, hook.Interpreter, hook.Handshake:
		own.Err, own.Python = errors.New("the plugin does not start"), nil
	case hook.Internal:
		own.Err, own.Python = errors.New("internal error"), nil
	}
	if own.Python != nil {
		own.Python = &hook.Raised{Type: e.Python.Type, Message: e.Python.Message, Frames: last(e.Python.Frames)}
	}
	if e.Exit != nil {
		own.Exit = new(*e.Exit)
		own.Exit.Stderr, own.Exit.Stacks = nil, nil
	}
	return &own
}

// last returns the place of the last frame, without its source and its directory.
func last(frames []hook.Frame) []hook.Frame {
	if len(frames) == 0 {
		return nil
	}
	f := frames[len(frames)-1]
	return []hook.Frame{{File: schema.Path(filepath.Base(string(f.File))), Line: f.Line, Function: f.Function}}
}

// drain makes health requests fail and still accepts calls for a while. After that it accepts none
// over TCP, and waits until the running calls have ended within their own limits.
func (s *Server) drain() {
	s.mu.Lock()
	ending := s.ending
	s.mu.Unlock()
	if ending { // the daemon was idle
		return
	}
	s.draining.Store(true)
	hook.Within(s.killing.Done(), s.opts.Drain)
	if s.tcp == nil {
		return
	}
	s.opts.Access.Stop()
	ctx, cancel := context.WithTimeout(s.killing, cmp.Or(s.opts.CallTimeout, longestDrain))
	defer cancel()
	_ = s.tcp.Shutdown(ctx)
}

// serveReadiness answers 200 if calls are accepted now, or else 503. Only a client that may call
// gets the reason.
func (s *Server) serveReadiness(w http.ResponseWriter, r *http.Request) (any, error) {
	state, err := s.readiness(r.Context())
	if err == nil {
		return healthBody{Schema: 1, Healthy: true, State: state}, nil
	}
	body := healthBody{Schema: 1, State: state}
	if access.Known(r.Context()) {
		body.Error = s.complete(r, err)
	}
	w.Header().Set("Retry-After", "1")
	writeJSON(w, http.StatusServiceUnavailable, body)
	return nil, nil
}

// readiness returns a word for the state, and an error if calls are not accepted.
func (s *Server) readiness(ctx context.Context) (string, error) {
	if s.draining.Load() {
		return "stopping", stoppingError(s.id.Name)
	}
	select {
	case <-s.ready:
	default:
		return "starting", cmp.Or(s.notReady(""), error(hook.NewError(hook.Unavailable, errors.New("the plugin is starting"))))
	}
	p, err := s.await(ctx, "")
	if err != nil {
		return "failed", err
	}
	if err := p.Health(ctx); err != nil {
		return "unhealthy", err
	}
	return "ready", nil
}

// serveMCP passes a message on after the plugin has started.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) (any, error) {
	defer s.use()()
	if _, err := s.await(r.Context(), ""); err != nil {
		return nil, err
	}
	body, err := readWhole(r.Context(), w, r)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.opts.MCP.ServeHTTP(w, r)
	return nil, nil
}

// serveMetrics answers at once, even while the plugin starts.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) (any, error) {
	st, err := s.status(r.Context())
	if err != nil || s.opts.Metrics == nil {
		return nil, err
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	_, _ = w.Write(s.opts.Metrics(st)) // ignore the error: the client is gone
	return nil, nil
}

// openAPI is the path of the OpenAPI document.
const openAPI = "/openapi.json"

// serveOpenAPI answers with the OpenAPI document of the plugin's current hooks.
func (s *Server) serveOpenAPI(p hook.Plugin, _ http.ResponseWriter, r *http.Request) (any, error) {
	all, err := p.Hooks(r.Context(), schema.Query{Input: true})
	if err != nil {
		return nil, err
	}
	o := openapi.Options{Title: s.id.Name, Version: "1", Statuses: callStatuses}
	if a := s.opts.Access; a != nil && isTCP(r) {
		o.Token, o.Statuses = a.Who() == "token", maps.Clone(callStatuses)
		maps.Copy(o.Statuses, access.Statuses)
	}
	return json.RawMessage(openapi.Document(o, all.Hooks)), nil
}

// callStatuses maps the HTTP statuses of the errors of a call to descriptions.
var callStatuses = map[int]string{
	http.StatusBadRequest:          "The arguments or the query are wrong. Nothing was called.",
	http.StatusNotFound:            "There is no such hook.",
	http.StatusUnprocessableEntity: "The hook failed.",
	499:                            "The client closed the request.",
	http.StatusInternalServerError: "Any other error.",
	http.StatusBadGateway:          "The plugin exited during the call.",
	http.StatusServiceUnavailable:  "The plugin accepts no calls now. Nothing was called.",
	http.StatusGatewayTimeout:      "The call took longer than its limit.",
}

// serveLive answers while pyplug runs, whatever the plugin does.
func serveLive(http.ResponseWriter, *http.Request) (any, error) {
	return map[string]any{"schema": 1, "live": true}, nil
}
