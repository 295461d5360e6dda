package grpcplugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	// The types of details that servers usually send with a status.
	_ "google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// The reasons of an [*hook.Error] of this package.
const (
	// These have kind Start or Handshake.
	ReasonNoHandshake = "no-handshake"
	// These have kind Handshake.
	ReasonBadHandshake   = "bad-handshake"   // malformed or rejected
	ReasonForeignAddress = "foreign-address" // another process listens at the address, with the plugin or instead of it
	ReasonNoConnection   = "no-connection"   // no process accepts a connection
	ReasonNoAnswer       = "no-answer"       // the server accepted, but did not answer before the limit
	ReasonNotGRPC        = "not-grpc"        // the server does not speak HTTP/2
	ReasonTLS            = "tls"             // the two sides do not agree on TLS
	// These have kind Unhealthy.
	ReasonNoHealth       = "no-health"       // no health service
	ReasonUnknownService = "unknown-service" // the health service does not know this name
	ReasonNotServing     = "not-serving"
	ReasonSilent         = "silent-health" // the health service did not answer in time
)

// asError returns the *hook.Error in err, or nil.
func asError(err error) *hook.Error {
	var e *hook.Error
	errors.As(err, &e)
	return e
}

// slack is how much earlier than this process a server may detect that a call's deadline has
// passed.
const slack = 100 * time.Millisecond

// ranOut reports whether a call failed with err because the deadline of ctx passed. A server may
// detect that a moment earlier. In that case ranOut waits for the deadline. If the deadline is
// further away, DEADLINE_EXCEEDED is the server's own answer.
func ranOut(ctx context.Context, err error) bool {
	deadline, ok := ctx.Deadline()
	if status.Code(err) != codes.DeadlineExceeded || !ok || time.Until(deadline) > slack {
		return false
	}
	<-ctx.Done()
	return true
}

// unanswered returns the error of a request that ctx ended, see [hook.Ended]. It is marked as
// unanswered even if a status says that the deadline passed, because gRPC may send that while the
// method still runs.
func unanswered(ctx context.Context, what string, sent bool) *hook.Error {
	e := hook.Ended(ctx, "", what, sent)
	e.Unanswered = true
	return e
}

// lostConnection reports whether a call ended with gRPC's status for a broken connection, or for a
// connection that pyplug has closed.
func lostConnection(err error) bool {
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.Canceled
}

// codeName returns a code's name as in Python and the protocol, such as "INVALID_ARGUMENT", or
// "Code(20)" for an unknown code.
func codeName(c codes.Code) string {
	if name, ok := code.Code_name[int32(c)]; ok {
		return name
	}
	return c.String()
}

// setStatus stores in e the status that the plugin answered. If d does not know the type of a
// detail, e gets the type's name and the bytes. d may be nil.
func setStatus(e *hook.Error, s *status.Status, d *protoschema.Descriptors) *hook.Error {
	e.Status = &hook.RPCStatus{Code: codeName(s.Code()), Message: s.Message()}
	for _, detail := range s.Proto().GetDetails() {
		text, err := d.EncodeMessage(detail)
		if err != nil {
			// This can always be encoded.
			text, _ = json.Marshal(map[string]any{"@type": detail.GetTypeUrl(), "value": detail.GetValue()})
		}
		e.Status.Details = append(e.Status.Details, text)
	}
	if e.Err == nil {
		e.Err = statusError(s)
	}
	return e
}

// hidesTraceback reports whether a status comes from an exception whose traceback was not printed:
// grpcio logged the traceback, but the plugin has no log handler.
func (c *Config) hidesTraceback(s *status.Status) bool {
	raised := s.Code() == codes.Unknown &&
		(strings.HasPrefix(s.Message(), "Exception calling application: ") || strings.HasPrefix(s.Message(), "Unexpected <class "))
	return raised && c.Python && (c.Logs == nil || !c.Logs())
}

func statusError(s *status.Status) error {
	if s.Message() == "" {
		return errors.New(codeName(s.Code()))
	}
	return fmt.Errorf("%s: %s", codeName(s.Code()), s.Message())
}

// isUnimplemented reports whether a server rejected a method because it does not have it. In this
// case grpclib's server answers without a content type, which gRPC reports as UNKNOWN.
func isUnimplemented(err error) bool {
	s := status.Convert(err)
	return s.Code() == codes.Unimplemented ||
		s.Code() == codes.Unknown && strings.HasSuffix(s.Message(), "missing HTTP content-type")
}

// answeredKey is the key of an atomic.Bool in a call's context. The Bool is true if the plugin
// itself ended the call with a status. If it is false, the status is gRPC's own, for a broken call.
type answeredKey struct{}

// rpcHandler handles every RPC of a connection. It adds metadata, and records when trailers arrive,
// which only a server sends.
type rpcHandler struct{ metadata []string }

func (h rpcHandler) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	return metadata.AppendToOutgoingContext(ctx, h.metadata...)
}

func (rpcHandler) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, ok := s.(*stats.InTrailer); !ok {
		return
	}
	if a, ok := ctx.Value(answeredKey{}).(*atomic.Bool); ok {
		a.Store(true)
	}
}

func (rpcHandler) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (rpcHandler) HandleConn(context.Context, stats.ConnStats) {}

var (
	// frameLine matches a frame of a traceback, and raisedLine its last line. repeatLine matches
	// the line that Python prints after repeated frames of a recursion.
	repeatLine = pysrc.Expression(`^  \[Previous line repeated (\d+) more times?\]$`)
	frameLine  = pysrc.Expression(`^  File "(.+)", line (\d+)(?:, in (.+))?$`)
	raisedLine = pysrc.Expression(`^([A-Za-z_][\w.]*)(?:: (.*))?$`)
	// moduleLine matches Python's line about a missing module. If Python was started with -m, it
	// prints no traceback.
	moduleLine = pysrc.Expression(`No module named '?([A-Za-z_][\w.]*)`)
)

// lastTraceback parses the exception that ended a Python from the last lines of its standard error.
// It returns nil if they do not end with a traceback.
func lastTraceback(lines []string) *hook.Raised {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	// The message follows the last frame. It may have several lines, some indented.
	last := len(lines)
	for last > 0 && !frameLine().MatchString(lines[last-1]) {
		last--
	}
	for last > 0 && last < len(lines) && strings.HasPrefix(lines[last], " ") {
		last++
	}
	if last == 0 || last == len(lines) {
		return nil
	}
	m := raisedLine().FindStringSubmatch(lines[last])
	if m == nil {
		return nil
	}
	raised := &hook.Raised{Type: m[1], Message: strings.Join(append([]string{m[2]}, lines[last+1:]...), "\n")}
	first := last
	for first > 0 && strings.HasPrefix(lines[first-1], " ") {
		first--
	}
	for _, line := range lines[first:last] {
		if m := frameLine().FindStringSubmatch(line); m != nil {
			number, _ := strconv.Atoi(m[2]) // digits; Atoi returns the highest int if there are too many
			raised.Frames = append(raised.Frames, hook.Frame{File: schema.Path(m[1]), Line: number, Function: m[3]})
		} else if n := len(raised.Frames); n > 0 && repeatLine().MatchString(line) {
			raised.Frames[n-1].Repeated, _ = strconv.Atoi(repeatLine().FindStringSubmatch(line)[1]) // digits; Atoi returns the highest int if there are too many
		} else if n > 0 && raised.Frames[n-1].Text == "" && strings.Trim(line, " ^~") != "" {
			raised.Frames[n-1].Text = strings.TrimSpace(line)
		}
	}
	raised.Frames = slices.DeleteFunc(raised.Frames, func(f hook.Frame) bool {
		return strings.HasPrefix(string(f.File), "<frozen ") // frames of the import system
	})
	raised.Frames = hook.FoldFrames(raised.Frames)
	return raised
}

// missingModule returns the error for a failed import, or nil.
func missingModule(raised *hook.Raised, lines []string) *schema.MissingModuleError {
	text, file := "", schema.Path("")
	switch {
	case raised != nil && raised.Type == "ModuleNotFoundError":
		text = raised.Headline()
		if n := len(raised.Frames); n > 0 {
			file = raised.Frames[n-1].File
		}
	case raised == nil && len(lines) > 0 && strings.Contains(lines[len(lines)-1], ": No module named "):
		text = lines[len(lines)-1]
	}
	if m := moduleLine().FindStringSubmatch(text); m != nil {
		return &schema.MissingModuleError{Module: m[1], Text: text, File: file}
	}
	return nil
}

// lineHints returns hints that say how to fix a fault in a handshake line, or which setting accepts
// it.
func lineHints(e *handshake.Error) []schema.Hint {
	switch e.Name {
	case "core version":
		return schema.Hints("print 1 as the first field, the version of go-plugin's own protocol")
	case "app version":
		if _, err := strconv.Atoi(e.Seen); err == nil {
			return schema.Hints("offer it, as this plugin's host does: %s %s", schema.Setting("protocol-versions"), e.Seen)
		}
	case "address":
		if filepath.IsAbs(e.Seen) {
			return schema.Hints("create the socket in the directory that PLUGIN_UNIX_SOCKET_DIR names, or in the temporary directory if it is not set")
		}
		return schema.Hints("listen on 127.0.0.1:0 and print the port that the system chose; pyplug connects to this machine only")
	case "protocol":
		return schema.Hints(`print "grpc" as the fifth field: a Python plugin serves gRPC`)
	case "certificate":
		switch {
		case e.Seen == "":
			return schema.Hints("omit %s, as most hosts do, or serve mutual TLS with PLUGIN_CLIENT_CERT", schema.Setting("mtls"))
		case strings.HasSuffix(e.Seen, "="):
			return schema.Hints(`print the certificate in base64 without padding: .rstrip("=")`)
		case e.Unasked:
			return schema.Hints("pass %s to request TLS", schema.Setting("mtls"))
		}
	default:
		return schema.Hints("print a complete line, such as 1|1|tcp|127.0.0.1:4410|grpc")
	}
	return nil
}

// tlsHint returns a hint for a plugin whose TLS connection failed. It uses the error's text,
// because gRPC returns nothing else.
func tlsHint(text string) schema.Hint {
	switch {
	case strings.Contains(text, "certificate is valid for"), strings.Contains(text, "certificate is not valid for"):
		return schema.Hintf("make the certificate for the name localhost, by which hosts verify it: subjectAltName DNS:localhost")
	case strings.Contains(text, endsAfter), strings.Contains(text, "remote error: tls: "):
		return schema.Hintf("trust the certificate in PLUGIN_CLIENT_CERT, which is new at each start, and not a CA of the plugin's own: " +
			"root_certificates=os.environ[\"PLUGIN_CLIENT_CERT\"].encode()")
	}
	return schema.Hintf("serve with the certificate that the handshake names, and trust the one in PLUGIN_CLIENT_CERT")
}
