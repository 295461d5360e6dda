package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const (
	jsonType   = "application/json"
	streamType = "application/x-ndjson"
	// bodiesSize is the number of bytes of bodies that may be in memory at once.
	bodiesSize = 256 << 20
	// bodySpeed is the minimum speed of a body after bodyGrace, in bytes per second.
	bodySpeed = 1 << 10
	// bodyLimit is how long a client may take to send a whole body.
	bodyLimit = time.Minute
)

// bodyGrace is the first period of a request, in which its body may be slower than bodySpeed.
var bodyGrace = 10 * time.Second // tests shorten it

// Refusal is the reason why a request is not served.
type Refusal struct {
	// Status is the HTTP status.
	Status int
	error
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.error }

func refuse(status int, format string, words ...any) *Refusal {
	return &Refusal{status, fmt.Errorf(format, words...)}
}

// Statuses maps the HTTP statuses of refusals to descriptions.
var Statuses = map[int]string{
	http.StatusUnauthorized:          "The request has no valid token, or is of another user.",
	http.StatusForbidden:             "The Host or the Origin is not allowed.",
	http.StatusRequestTimeout:        "The body came too slowly.",
	http.StatusRequestEntityTooLarge: "The body is too large.",
	http.StatusUnsupportedMediaType:  "The media type, the charset or the encoding is not supported.",
}

// probes lists the paths that everybody may request.
var probes = []string{"/health", "/livez"}

// knownKey is the context key that marks a request whose sender may call.
type knownKey struct{}

// Known reports whether the sender of a request may call. If not, the request is a probe.
func Known(ctx context.Context) bool { return ctx.Value(knownKey{}) != nil }

// Handler serves allowed requests with next, and the others with refused. Reading a body fails with
// a [*Refusal] if the body is too large or too slow.
func (a *Access) Handler(next http.Handler, refused func(http.ResponseWriter, *http.Request, *Refusal)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if r.ContentLength != 0 { // net/http reads a body that no handler reads, so limit that, too
			_ = control.SetReadDeadline(time.Now().Add(bodyGrace))
		}
		known, why := a.judge(r)
		if why != nil {
			if why.Status == http.StatusUnauthorized && a.tokens != nil {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			w.Header().Set("Connection", "close") // the body is not read
			refused(w, r, why)
			return
		}
		if known {
			r = r.WithContext(context.WithValue(r.Context(), knownKey{}, true))
		}
		switch {
		case isStream(r): // each of its messages has its own limit
			_ = control.SetReadDeadline(time.Time{})
		case r.ContentLength != 0:
			held := &body{ReadCloser: http.MaxBytesReader(w, r.Body, a.o.MaxBody), a: a, control: control, began: time.Now()}
			defer held.release()
			r.Body = held
		}
		next.ServeHTTP(w, r)
	})
}

// judge reports whether the sender of a request may call, and why the request is rejected, or nil.
func (a *Access) judge(r *http.Request) (known bool, why *Refusal) {
	if origins := r.Header.Values("Origin"); slices.ContainsFunc(origins, func(o string) bool { return !a.isOrigin(o) }) {
		return false, refuse(http.StatusForbidden, "the Origin is %q, expected that of a loopback address or an --allow-host", origins[0])
	}
	known, why = a.knows(r)
	isHost := a.tokens != nil || a.isHost(r.Host) // against DNS rebinding: the page of an attacker has no token
	if slices.Contains(probes, r.URL.Path) {
		return known && isHost, nil
	}
	switch {
	case why != nil:
		return false, why
	case !isHost:
		return false, refuse(http.StatusForbidden, "the Host is %q, expected a loopback address or an --allow-host", r.Host)
	case r.Method == http.MethodPost:
		return known, a.judgeBody(r)
	}
	return known, nil
}

// knows reports whether the sender of a request may call, or why not.
func (a *Access) knows(r *http.Request) (bool, *Refusal) {
	switch {
	case a.tokens != nil:
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || !a.tokens.has(strings.TrimSpace(token)) {
			return false, refuse(http.StatusUnauthorized, "the request has no valid token, expected the header Authorization: Bearer TOKEN")
		}
	case !a.o.NoToken:
		if err := peerOf(r.Context()).check(); err != nil {
			return false, refuse(http.StatusUnauthorized, "the client is not known to be this user: %w", err)
		}
	}
	return true, nil
}

// judgeBody returns why a body is not read, or nil.
func (a *Access) judgeBody(r *http.Request) *Refusal {
	text := r.Header.Get("Content-Type")
	mediaType, params, err := mime.ParseMediaType(text)
	charset, hasCharset := params["charset"]
	switch encoding := r.Header.Get("Content-Encoding"); {
	case err != nil || mediaType != jsonType && !isStream(r):
		return refuse(http.StatusUnsupportedMediaType, "the Content-Type is %q, expected %s", text, jsonType)
	case hasCharset && !strings.EqualFold(charset, "utf-8"):
		return refuse(http.StatusUnsupportedMediaType, "the charset is %q, expected utf-8", charset)
	case encoding != "":
		return refuse(http.StatusUnsupportedMediaType, "the Content-Encoding is %q, expected none", encoding)
	case r.ContentLength > a.o.MaxBody && !isStream(r):
		return tooLarge(a.o.MaxBody)
	}
	return nil
}

// isStream reports whether a body contains the messages of a client stream.
func isStream(r *http.Request) bool {
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return mediaType == streamType && r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/hooks/")
}

func tooLarge(most int64) *Refusal {
	return refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", most)
}

// isHost reports whether a name, with or without a port, is allowed or a loopback name.
func (a *Access) isHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback() || slices.ContainsFunc(a.o.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

func (a *Access) isOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && a.isHost(u.Host)
}

// body is a request body with limits. Its bytes count as memory in use until release.
type body struct {
	io.ReadCloser
	a       *Access
	control *http.ResponseController
	began   time.Time
	size    int64
}

func (b *body) Read(into []byte) (int, error) {
	end := min(bodyGrace+time.Duration(b.size/bodySpeed)*time.Second, bodyLimit)
	_ = b.control.SetReadDeadline(b.began.Add(end))
	n, err := b.ReadCloser.Read(into)
	b.size += int64(n)
	held := b.a.bodies.Add(int64(n))
	if err == io.EOF { // net/http must keep reading to detect that the client disconnects
		_ = b.control.SetReadDeadline(time.Time{})
	}
	var late net.Error
	switch tooMany := (*http.MaxBytesError)(nil); {
	case errors.As(err, &tooMany):
		err = tooLarge(tooMany.Limit)
	case errors.As(err, &late) && late.Timeout():
		err = refuse(http.StatusRequestTimeout, "the body came more slowly than %d bytes a second, or took more than a minute", bodySpeed)
	case err == nil && held > bodiesSize:
		err = &Refusal{http.StatusServiceUnavailable, hook.NewError(hook.Unavailable, fmt.Errorf("the bodies of all requests are larger than %d MB", bodiesSize>>20))}
	}
	return n, err
}

func (b *body) release() { b.a.bodies.Add(-b.size) }
