package commands

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// grpcHints are about how a gRPC plugin starts and serves.
func (f *program) grpcHints(err error, add adder) {
	var (
		none    *runner.NoHandshakeError
		connect *runner.ConnectError
		owner   *runner.OwnerError
		health  *runner.HealthError
		noProbe *runner.NoHealthError
		flag    *notGRPCError
		size    *runner.SizeError
	)
	switch {
	case errors.As(err, &size):
		add("--max-message allows larger ones")
	case errors.As(err, &none):
		f.noHandshakeHints(asError(err), none, add)
	case errors.As(err, &connect):
		f.connectHint(connect, add)
	case errors.As(err, &owner) && owner.Shared:
		add("gRPC shares ports unless it is told not to: grpc.server(…, options=[(\"grpc.so_reuseport\", 0)])")
	case errors.As(err, &owner):
		add("listen on 127.0.0.1:0 and print the port that was chosen")
	case errors.As(err, &health) && health.Status == "SERVICE_UNKNOWN":
		add("in Python: health_servicer.set(%q, HealthCheckResponse.SERVING); or ask for another with --service", health.Service)
	case errors.As(err, &noProbe) && f.session != nil:
		add("in Python, grpcio-health-checking serves it: set the service \"plugin\" to SERVING")
	case errors.As(err, &flag):
		add("--transport grpc starts it as a gRPC plugin")
	}
}

// noHandshakeHints are about a line that did not come.
func (f *program) noHandshakeHints(e *hook.Error, none *runner.NoHandshakeError, add adder) {
	said := ""
	if e.Exit != nil {
		said = strings.Join(e.Exit.Stderr, "\n")
	}
	for _, n := range none.Noise {
		said += "\n" + n.Text
	}
	said = strings.ToLower(said)
	switch {
	case e.Python != nil: // which says it
	case strings.Contains(said, "cookie") || strings.Contains(said, "not meant to be executed directly"):
		add("it wants the magic cookie that its host sets: --cookie KEY=VALUE")
	case none.OnStderr != "":
		add("print it on standard output, and logs on standard error")
	case none.Unended != "":
		add("end it with a newline")
	case none.Limit > 0:
		add("print it as soon as the server listens, and flush it: print(…, flush=True)")
		add("--start-timeout gives it longer")
	case f.cfg.GRPC.CookieKey == "" && f.session != nil && f.session.Plugin().Manifest.CookieKey == "":
		add("if it wants its host's magic cookie: --cookie KEY=VALUE")
		if f.cfg.Transport == "" && f.session.Interpreter().Path != "" {
			add("if it is a file of functions: --transport pipe")
		}
	}
}

// connectHint is about a connection that did not come about.
func (f *program) connectHint(e *runner.ConnectError, add adder) {
	switch {
	case f.session == nil && errors.Is(e, runner.ErrNoCertificate):
		add("--tls-client-cert and --tls-client-key name one")
	case f.session == nil && e.Stage == "http2" && !f.tls:
		add("if the server wants TLS: --tls")
	case f.session == nil && e.Stage == "tls":
		add("without --tls it is asked in plain; --tls-ca-cert names who signed its certificate")
	case f.session == nil:
	case e.Stage == "tls":
		add("serve with the certificate that the handshake names, and trust the one in PLUGIN_CLIENT_CERT")
	case errors.Is(e, syscall.ECONNREFUSED), errors.Is(e, fs.ErrNotExist):
		add("print the handshake when the server listens, with the port that it listens on")
	}
}

// descriptorHints are about sources that disagree, some of which flags name.
func (f *program) descriptorHints(err error, add adder) {
	known := (interface{ Reason() string })(nil)
	if errors.As(err, &known) && known.Reason() == "descriptors-disagree" && len(f.cfg.GRPC.Proto)+len(f.cfg.GRPC.Protoset) > 0 {
		add("or leave out the --proto or --protoset")
	}
}

// noHooksHint is about a plugin of which no hook is known.
func (f *program) noHooksHint(add adder) {
	if f.session != nil && f.session.Settings().Transport == "grpc" {
		add("--proto FILE describes its methods, and so does grpcio-reflection in the plugin")
		return
	}
	add("it has no hooks: define a public function in it")
}
