package grpcplugin

import (
	"errors"
	"fmt"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// NoHandshakeError says that a plugin did not print its handshake.
type NoHandshakeError struct {
	// Limit is how long it was waited for; 0 when the process ended before.
	Limit time.Duration
	// Noise are the first lines of its standard output, Lines how many there
	// were.
	Noise []Noise
	Lines int
	// Unended is a handshake that stood there without the newline by which a
	// host knows its end.
	Unended string
	// OnStderr is a handshake that was printed on standard error, where no host
	// looks for it.
	OnStderr string
}

// Error says what came instead.
func (e *NoHandshakeError) Error() string {
	text := "the plugin ended before it printed a handshake"
	if e.Limit > 0 {
		text = e.Unwrap().Error()
	}
	const shown = 60
	first := ""
	if e.Lines > 0 {
		if first = e.Noise[0].Text; len(first) > shown {
			first = first[:shown] + "…"
		}
	}
	switch {
	case e.OnStderr != "":
		text += fmt.Sprintf(", but standard error has %q", e.OnStderr)
	case e.Unended != "":
		text += fmt.Sprintf(", only %q without a newline", e.Unended)
	case e.Lines == 1:
		text += fmt.Sprintf(", only %q", first)
	case e.Lines > 1:
		text += fmt.Sprintf(", only %d other lines, the first %q", e.Lines, first)
	}
	return text
}

// Unwrap is a [*hook.LimitError] when a limit was reached.
func (e *NoHandshakeError) Unwrap() error {
	if e.Limit == 0 {
		return nil
	}
	return &hook.LimitError{What: "no handshake on standard output", Limit: e.Limit}
}

// ConnectError says that no gRPC connection came about.
type ConnectError struct {
	Network, Address string
	// Stage is "connect" when nobody took the connection, "tls" when the
	// certificates did not agree, "http2" when something took it that does not
	// speak HTTP/2.
	Stage string
	// Limit is set, and Err nil, when there was no answer at that stage within
	// it.
	Limit time.Duration
	Err   error
}

// Error names the address and the stage.
func (e *ConnectError) Error() string {
	where := e.Address
	if e.Network == "unix" {
		where = "unix:" + where
	}
	switch {
	case e.Limit > 0 && e.Stage == stageTLS:
		return fmt.Sprintf("%s takes connections but does not answer within %s, want TLS", where, e.Limit)
	case e.Limit > 0 && e.Stage == stageHTTP2:
		return fmt.Sprintf("%s takes connections but does not answer within %s, want HTTP/2", where, e.Limit)
	case e.Limit > 0:
		return fmt.Sprintf("cannot connect to %s: no answer within %s", where, e.Limit)
	case e.Stage == stageTLS:
		return fmt.Sprintf("no TLS with %s: %v", where, e.Err)
	case e.Stage == stageHTTP2:
		return fmt.Sprintf("%s does not speak HTTP/2, want gRPC: %v", where, e.Err)
	}
	return fmt.Sprintf("cannot connect to %s: %v", where, e.Err)
}

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// ErrNoCertificate is in a [ConnectError] where a certificate of ours is wanted
// and none was given.
var ErrNoCertificate = errors.New("the server wants a client certificate")

const (
	stageConnect = "connect"
	stageTLS     = "tls"
	stageHTTP2   = "http2"
)

// HealthError is a health status other than SERVING.
type HealthError struct {
	Service string
	// Status is the status' name, such as "NOT_SERVING"; "SERVICE_UNKNOWN"
	// when the health service knows no such service.
	Status string
}

// Error tells the status.
func (e *HealthError) Error() string {
	if e.Status == serviceUnknown {
		return fmt.Sprintf("health is served, but not for the service %q", e.Service)
	}
	return fmt.Sprintf("the health of the service %q is %s, want SERVING", e.Service, e.Status)
}

// NoHealthError says that a plugin or server has no health service. It is tolerated
// where a plugin is started.
type NoHealthError struct{}

// Error says so.
func (*NoHealthError) Error() string { return "no grpc.health.v1.Health is served" }

// SizeError says that a message is larger than is sent or read, which is what
// [Config.MaxMessage] allows.
type SizeError struct {
	// Size is how many bytes the message takes, Limit how many it may.
	Size, Limit int
	// Answer tells that the plugin sent it; else it is a request, and was not
	// sent.
	Answer bool
}

// Error tells both sizes.
func (e *SizeError) Error() string {
	if e.Answer {
		return fmt.Sprintf("the answer takes %d bytes, at most %d are read", e.Size, e.Limit)
	}
	return fmt.Sprintf("the request takes %d bytes, at most %d are sent", e.Size, e.Limit)
}

var (
	errEnded     = errors.New("the plugin has ended")
	errCondemned = errors.New("the plugin did not answer after an earlier call and is being stopped")
	errAsked     = errors.New("the plugin was stopped")
	errStopped   = errors.New("the plugin was stopped during the call")
	errCrashed   = errors.New("the plugin ended during the call")
)
