package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// The headers of the protocol.
const (
	apiHeader   = "Pyplug-Api"   // the protocol's version
	soleHeader  = "Pyplug-Sole"  // the field of a message that --raw prints, see soleField
	notesHeader = "Pyplug-Notes" // a JSON array of texts, in ASCII
)

// The media types of the protocol.
const (
	jsonType   = "application/json"
	streamType = "application/x-ndjson"
	bytesType  = "application/octet-stream"
)

// healthEvery is how often a watched health is asked for.
const healthEvery = time.Second

// handler answers the requests that docs/http.md documents.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hooks/{hook...}", s.serveCall)
	mux.HandleFunc("GET /hooks", s.serveHooks)
	mux.HandleFunc("GET /hooks/{hook...}", s.serveHooks)
	mux.HandleFunc("GET /health", s.serveHealth)
	mux.HandleFunc("GET /status", s.serveStatus)
	mux.HandleFunc("GET /events", s.serveEvents)
	mux.HandleFunc("POST /restart", s.serveRestart)
	mux.HandleFunc("POST /stop", s.serveStop)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.recover(w)
		w.Header().Set(apiHeader, strconv.Itoa(API))
		if api := r.Header.Get(apiHeader); api != "" && api != strconv.Itoa(API) {
			s.writeError(w, versionError(s.id.Name, s.id))
			return
		}
		if h, pattern := mux.Handler(r); pattern == "" {
			s.notFound(w, r, h)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// recover answers a request whose handler panicked, and logs the panic.
func (s *Server) recover(w http.ResponseWriter) {
	p := recover()
	if p == nil {
		return
	}
	err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	s.log.note(err.Error())
	s.writeError(w, hook.NewError(hook.Internal, err))
}

// notFound answers a request for what does not exist.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request, h http.Handler) {
	found := &statusRecorder{header: http.Header{}}
	h.ServeHTTP(found, r)
	message := "no such request: " + r.Method + " " + r.URL.Path
	if allow := found.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
		message += ", want " + allow
	}
	e := hook.NewError(hook.Request, errors.New(message))
	e.Hints = []string{"docs/http.md lists the requests"}
	s.writeErrorAs(w, found.code, e)
}

// statusRecorder keeps the status and the header of an answer.
type statusRecorder struct {
	header http.Header
	code   int
}

func (r *statusRecorder) Header() http.Header         { return r.header }
func (r *statusRecorder) Write(b []byte) (int, error) { return len(b), nil }
func (r *statusRecorder) WriteHeader(code int)        { r.code = code }

// statusOf is the status of an error's answer.
func statusOf(e *hook.Error) int {
	switch e.Kind {
	case hook.Failed:
		return http.StatusUnprocessableEntity
	case hook.Request:
		if e.Reason == "no-hook" {
			return http.StatusNotFound
		}
		return http.StatusBadRequest
	case hook.Timeout:
		return http.StatusGatewayTimeout
	case hook.Crash:
		return http.StatusBadGateway
	case hook.Unavailable, hook.Unhealthy:
		return http.StatusServiceUnavailable
	case hook.Canceled:
		return 499 // the client closed the request
	}
	return http.StatusInternalServerError
}

// errorBody is the body of an error's answer, as `--json` prints it.
type errorBody struct {
	Schema int         `json:"schema"`
	Error  *hook.Error `json:"error"`
}

// writeError answers with an error.
func (s *Server) writeError(w http.ResponseWriter, err error) {
	e := s.complete(err)
	s.writeErrorAs(w, statusOf(e), e)
}

func (s *Server) writeErrorAs(w http.ResponseWriter, status int, e *hook.Error) {
	writeJSON(w, status, errorBody{1, e})
}

// writeJSON answers with a value.
func writeJSON(w http.ResponseWriter, status int, value any) {
	line, err := jsonLine(value)
	if err != nil {
		panic("a shape of ours is not JSON: " + err.Error())
	}
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(line)))
	w.WriteHeader(status)
	_, _ = w.Write(line) // a client that is gone needs no answer
}

// jsonLine is a value as a line of JSON, with <, > and & as they are.
func jsonLine(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return b.Bytes(), err
}

// limited is the context of a request: it ends with the connection, or when ?timeout
// is over, which is otherwise the default; 0 means no limit.
func limited(r *http.Request, began time.Time, otherwise time.Duration) (context.Context, context.CancelFunc, error) {
	limit := otherwise
	if text := r.URL.Query().Get("timeout"); text != "" {
		var err error
		if limit, err = time.ParseDuration(text); err != nil {
			seconds, failed := strconv.ParseFloat(text, 64)
			if failed != nil || !(seconds >= 0) || seconds > float64(1<<31) {
				return nil, nil, hook.NewError(hook.Request, fmt.Errorf("timeout is %q, want such as 30s, 2m or a number of seconds", text))
			}
			limit = time.Duration(seconds * float64(time.Second))
		}
	}
	if limit <= 0 {
		ctx, cancel := context.WithCancel(r.Context())
		return ctx, cancel, nil
	}
	ctx, cancel := context.WithDeadline(r.Context(), began.Add(limit))
	return ctx, cancel, nil
}

// withPlugin calls do with the plugin once it has started, within the request's limit,
// and answers with the error of either.
func (s *Server) withPlugin(w http.ResponseWriter, r *http.Request, do func(ctx context.Context, p hook.Plugin) error) {
	began := time.Now()
	ctx, cancel, err := limited(r, began, 0)
	if err != nil {
		s.writeError(w, err)
		return
	}
	defer cancel()
	p, failed := s.await(ctx, began, "")
	if failed != nil {
		s.writeError(w, failed)
		return
	}
	if err := do(ctx, p); err != nil {
		s.writeError(w, err)
	}
}

func (s *Server) serveHooks(w http.ResponseWriter, r *http.Request) {
	s.withPlugin(w, r, func(ctx context.Context, p hook.Plugin) error {
		found, err := p.Hooks(ctx, r.PathValue("hook"))
		if err == nil {
			writeJSON(w, http.StatusOK, found)
		}
		return err
	})
}

func (s *Server) serveRestart(w http.ResponseWriter, r *http.Request) {
	defer s.use()()
	s.withPlugin(w, r, func(ctx context.Context, p hook.Plugin) error {
		reason := r.URL.Query().Get("reason")
		if reason == "" {
			reason = "a client asked for a restart"
		}
		err := p.Restart(ctx, reason)
		if err == nil {
			writeJSON(w, http.StatusOK, struct {
				Schema    int  `json:"schema"`
				Restarted bool `json:"restarted"`
			}{1, true})
		}
		return err
	})
}

// healthBody is the answer to a probe, and a line of a watched health.
type healthBody struct {
	Schema  int         `json:"schema"`
	Healthy bool        `json:"healthy"`
	Error   *hook.Error `json:"error,omitempty"`
}

// serveHealth answers 200 or 503. With ?watch=1 it writes a line for each change.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	s.withPlugin(w, r, func(ctx context.Context, p hook.Plugin) error {
		if r.URL.Query().Get("watch") != "" {
			s.watchHealth(ctx, w, p)
			return nil
		}
		if err := p.Health(ctx); err != nil {
			s.writeErrorAs(w, http.StatusServiceUnavailable, s.complete(err))
			return nil
		}
		writeJSON(w, http.StatusOK, healthBody{Schema: 1, Healthy: true})
		return nil
	})
}

func (s *Server) watchHealth(ctx context.Context, w http.ResponseWriter, p hook.Plugin) {
	out := newLineWriter(s, w)
	defer out.close()
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	last := "nothing yet"
	for {
		line, now := healthBody{Schema: 1, Healthy: true}, ""
		if err := p.Health(ctx); err != nil {
			line.Healthy, line.Error = false, s.complete(err)
			now = err.Error()
		}
		if now != last && ctx.Err() == nil && out.write(line) != nil {
			return
		}
		last = now
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-s.writes.Done():
			return
		}
	}
}

// serveEvents writes a line for each transition, as --events does.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	s.withPlugin(w, r, func(ctx context.Context, p hook.Plugin) error {
		out := newLineWriter(s, w)
		defer out.close()
		events := p.Events(ctx) // before the client learns that it is subscribed
		out.flush()
		for event, err := range events {
			var line any = errorBody{1, hook.AsError(err)}
			if err == nil {
				text, _ := json.Marshal(event) // our own shape
				name, _ := json.Marshal(s.id.Name)
				line = json.RawMessage(`{"schema":1,"name":` + string(name) + "," + string(text[1:]))
			}
			if out.write(line) != nil {
				break
			}
		}
		return nil
	})
}

// statusBody is the answer to GET /status.
type statusBody struct {
	Schema   int         `json:"schema"`
	Identity Identity    `json:"identity"`
	Status   hook.Status `json:"status"`
	Notes    []string    `json:"notes,omitempty"`
}

// serveStatus answers at once, also while the plugin starts; with ?ready=1 once the
// start is over, with the start's error if it failed.
func (s *Server) serveStatus(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	if r.URL.Query().Get("ready") != "" {
		if _, failed := s.await(r.Context(), began, ""); failed != nil {
			s.writeError(w, failed)
			return
		}
	}
	body := statusBody{Schema: 1, Identity: s.id}
	select {
	case <-s.ready:
	default:
		body.Status = hook.Status{State: hook.StateStarting, Since: s.id.Started}
		writeJSON(w, http.StatusOK, body)
		return
	}
	if s.plugin == nil {
		body.Status = hook.Status{State: hook.StateFailed, Reason: s.failure.Error()}
	} else {
		var err error
		if body.Status, err = s.plugin.Status(r.Context()); err != nil {
			s.writeError(w, err)
			return
		}
	}
	if s.opts.Notes != nil {
		body.Notes = s.opts.Notes()
	}
	writeJSON(w, http.StatusOK, body)
}

// serveStop answers when the name is free, which is when the process tree is gone.
func (s *Server) serveStop(w http.ResponseWriter, r *http.Request) {
	s.stopped.set()
	if r.URL.Query().Get("now") != "" {
		s.killed.set()
	}
	<-s.released.c
	writeJSON(w, http.StatusOK, struct {
		Schema  int      `json:"schema"`
		Stopped []string `json:"stopped"`
	}{1, []string{s.id.Name}})
}

// ascii is a JSON text that a header can carry.
func ascii(text []byte) string {
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
