package grpcplugin_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/handshake"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// fails checks that a launch fails with an error of a kind that contains words, and returns the
// error.
func fails(t *testing.T, cfg grpcplugin.Config, kind hook.Kind, words string) *hook.Error {
	t.Helper()
	inst, err := grpcplugin.New(cfg).Launch(t.Context())
	var e *hook.Error
	if inst != nil || !errors.As(err, &e) {
		t.Fatalf("got %v, %T %v; want an error alone", inst, err, err)
	}
	if e.Kind != kind || !strings.Contains(e.Error(), words) {
		t.Errorf("got %v %q, want %v with %q", e.Kind, e, kind, words)
	}
	return e
}

// started launches a plugin and stops it when the test ends.
func started(t *testing.T, cfg grpcplugin.Config) *grpcplugin.Instance {
	t.Helper()
	inst, err := grpcplugin.New(cfg).Launch(t.Context())
	if err != nil {
		t.Fatalf("launch: %v", err)
	}
	t.Cleanup(func() { inst.Stop(context.Background()) })
	return inst.(*grpcplugin.Instance)
}

// certificate returns an unrequested certificate in the form of the sixth field.
func certificate(t *testing.T) string {
	der, _, err := newCertificate()
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawStdEncoding.EncodeToString(der)
}

// TestHandshakeRefused checks that each fault of the line is reported with its field.
func TestHandshakeRefused(t *testing.T) {
	for name, test := range map[string]struct {
		printed string
		field   int
		words   string
	}{
		"two fields":    {"1|invalid\n", 0, "2 fields"},
		"after noise":   {"1|done|x\n12|13|tcp\nINFO 1|1|tcp|127.0.0.1:4410|grpc\n", 1, `is "INFO 1", expected 1`},
		"netrpc":        {"1|1|tcp|127.0.0.1:4410|netrpc\n", 5, `it is a net/rpc plugin: field 5 (protocol) is "netrpc", expected "grpc"`},
		"four fields":   {"1|1|tcp|127.0.0.1:4410\n", 5, `it is a net/rpc plugin: field 5 (protocol) is missing, expected "grpc"`},
		"core 2":        {"2|1|tcp|127.0.0.1:4410|grpc\n", 1, "is 2, expected 1"},
		"app 9":         {"1|9|tcp|127.0.0.1:4410|grpc\n", 2, "is 9, expected 1"},
		"remote":        {"1|1|tcp|169.254.169.254:80|grpc\n", 4, "loopback"},
		"any":           {"1|1|tcp|0.0.0.0:4410|grpc\n", 4, "loopback"},
		"name":          {"1|1|tcp|plugin.test:4410|grpc\n", 4, "not a name"},
		"unix outside":  {"1|1|unix|/etc/passwd|grpc\n", 4, "a path in"},
		"unix too long": {"1|1|unix|/" + strings.Repeat("a", 200) + "|grpc\n", 4, "bytes"},
		"certificate":   {"1|1|tcp|127.0.0.1:4410|grpc|" + certificate(t) + "\n", 6, "TLS was not requested"},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			e := fails(t, fake(t, "print", test.printed), hook.Handshake, test.words)
			var fault *handshake.Error
			if !errors.As(e, &fault) || fault.Field != test.field || !e.Permanent {
				t.Errorf("got %+v, permanent %v, want a fault of field %d", fault, e.Permanent, test.field)
			}
		})
	}
	t.Run("no certificate under TLS", func(t *testing.T) {
		runnertest.NothingLeft(t)
		cfg := fake(t, "print", "1|1|tcp|127.0.0.1:4410|grpc\n")
		cfg.MTLS = true
		fails(t, cfg, hook.Handshake, "TLS was requested")
	})
}

func TestNoHandshake(t *testing.T) {
	for name, test := range map[string]struct {
		behavior, arg, words string
	}{
		"nothing": {"print", "", "no handshake on standard output within 300ms"},
		"a port":  {"print", "50051\n", ", only \"50051\""},
		"flood":   {"flood", "", "xxx\"… ("},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			cfg := fake(t, test.behavior, test.arg)
			if cfg.StartTimeout = 300 * time.Millisecond; name != "nothing" {
				cfg.StartTimeout = 2 * time.Second // enough time to print, even on a busy machine
			}
			e := fails(t, cfg, hook.Handshake, test.words)
			var limit *hook.LimitError
			if e.Reason != grpcplugin.ReasonNoHandshake || len(e.Hints) == 0 || !errors.As(e, &limit) {
				t.Errorf("got %#v", e)
			}
		})
	}
}

// TestExitsEarly checks the error of a process that exits before it is ready: it has the exit code
// and the last output.
func TestExitsEarly(t *testing.T) {
	for name, test := range map[string]struct {
		behavior, arg string
		code          int
		words         string
	}{
		"exit 3":            {"exit", "...", 3, "exited before it printed a handshake"},
		"exit 0":            {"exit", "", 0, "exited before it printed a handshake"},
		"on stderr":         {"stderr", "late\n1|1|tcp|127.0.0.1:4410|grpc\n", 1, `before it printed a handshake, but standard error has "1|1|tcp|127.0.0.1:4410|grpc"`},
		"after the line":    {"die", "....", 4, "exited before it was ready"},
		"no module":         {"stderr", "Traceback (most recent call last):\n  File \"/p/plugin.py\", line 3, in <module>\n    import nope\nModuleNotFoundError: No module named 'nope'\n", 1, "No module named 'nope'"},
		"no module with -m": {"stderr", "/usr/bin/python3: No module named nope\n", 1, "No module named nope"},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			e := fails(t, fake(t, test.behavior, test.arg), hook.Start, test.words)
			if e.Exit == nil || e.Exit.Code != test.code || e.Permanent != (name == "no module") {
				t.Fatalf("got exit %+v, permanent %v, want code %d", e.Exit, e.Permanent, test.code)
			}
			if test.behavior == "exit" && (len(e.Exit.Stderr) != 1 || e.Exit.Stderr[0] != "no licence") {
				t.Errorf("standard error %q", e.Exit.Stderr)
			}
			var module *schema.MissingModuleError
			if strings.HasPrefix(name, "no module") && (!errors.As(e, &module) || module.Module != "nope") {
				t.Errorf("got %#v, want the module", e.Err)
			}
			if name == "no module" && (e.Python == nil || len(e.Python.Frames) != 1 ||
				e.Python.Frames[0] != hook.Frame{File: "/p/plugin.py", Line: 3, Function: "<module>", Text: "import nope"}) {
				t.Errorf("got %+v", e.Python)
			}
		})
	}
	t.Run("no such program", func(t *testing.T) {
		cfg := fake(t, "exit", "")
		cfg.Path += "-nope"
		if e := fails(t, cfg, hook.Start, "no such file"); e.Permanent {
			t.Error("a program that is missing may appear")
		}
		cfg.Python = true
		if e := fails(t, cfg, hook.Interpreter, "no such file"); !e.Permanent {
			t.Error("want a Python that is missing to be permanent")
		}
	})
}

// TestConnect checks that the reason for a missing connection is reported within the connect
// timeout.
func TestConnect(t *testing.T) {
	for name, test := range map[string]struct {
		reason, words string
		limit         time.Duration
	}{
		"refused": {grpcplugin.ReasonNoConnection, "cannot connect to 127.0.0.1:", 0}, // after retrying
		"silent":  {grpcplugin.ReasonNoAnswer, "accepts connections but does not answer within 500ms, expected HTTP/2", 500 * time.Millisecond},
		"ssh":     {grpcplugin.ReasonNotGRPC, "does not speak HTTP/2, expected gRPC: ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			cfg := fake(t, name, "")
			cfg.ConnectTimeout = test.limit
			began := time.Now()
			e := fails(t, cfg, hook.Handshake, test.words)
			if e.Reason != test.reason || e.Permanent != (name == "ssh") {
				t.Errorf("reason %q, permanent %v, want %q", e.Reason, e.Permanent, test.reason)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
	t.Run("early", func(t *testing.T) {
		runnertest.NothingLeft(t)
		started(t, fake(t, "early", ""))
	})
	t.Run("tls", func(t *testing.T) {
		runnertest.NothingLeft(t)
		cfg := fake(t, "plain under tls", certificate(t))
		cfg.MTLS = true
		e := fails(t, cfg, hook.Handshake, "TLS")
		if e.Reason != grpcplugin.ReasonTLS || !e.Permanent || len(e.Hints) == 0 {
			t.Errorf("got %#v", e)
		}
	})
}

// TestOwnCA checks a plugin that trusts only its own CA. The fix names the certificate that it must
// trust.
func TestOwnCA(t *testing.T) {
	for arg, hint := range map[string]string{
		"refuses clients": "trust the certificate in PLUGIN_CLIENT_CERT",
		"leaves":          "trust the certificate in PLUGIN_CLIENT_CERT",
		"another name":    "subjectAltName DNS:localhost",
	} {
		t.Run(arg, func(t *testing.T) {
			runnertest.NothingLeft(t)
			cfg := fake(t, "own ca", arg)
			cfg.MTLS = true
			e := fails(t, cfg, hook.Handshake, "TLS with ")
			if e.Reason != grpcplugin.ReasonTLS || len(e.Hints) != 1 || !strings.Contains(hook.Word(e.Hints[0]), hint) {
				t.Errorf("%v, hints %q", e, hook.Words(e.Hints))
			}
		})
	}
	t.Run("without mtls", func(t *testing.T) {
		runnertest.NothingLeft(t)
		e := fails(t, fake(t, "own ca", "plain"), hook.Handshake, "expected gRPC")
		if len(e.Hints) != 1 || !strings.Contains(hook.Word(e.Hints[0]), "--mtls") {
			t.Errorf("%v, hints %q", e, hook.Words(e.Hints))
		}
	})
}

// TestForeignAddress checks that the error names the process at the address.
func TestForeignAddress(t *testing.T) {
	runnertest.NothingLeft(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	inst, err := grpcplugin.New(fake(t, "print", "1|1|tcp|"+l.Addr().String()+"|grpc\n")).Launch(t.Context())
	if skipOwner(t) {
		return
	}
	want(t, err, hook.Handshake, "belongs to process")
	if inst != nil {
		t.Error("it started")
	}
}
