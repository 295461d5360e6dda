package runner

import (
	"cmp"
	"context"
	"crypto/elliptic"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// GRPC has the settings of gRPC plugins. A field with its zero value takes the value of the
// manifest, else the default.
type GRPC struct {
	// [Open] sets the fields that follow from the rest of [Config].
	grpcplugin.Config
	// Decides is a given flag that applies only to gRPC plugins, or "". It decides the
	// transport.
	Decides string
	// Host names one of [manifest.Hosts]. The plugin is started as that host does. Config
	// and MTLS take precedence over Host, and Host over the manifest.
	Host string
	// Arguments follow those of the manifest.
	Arguments []string
	// NoCookie sets no cookie, whatever the manifest says.
	NoCookie bool
	// MTLS secures the connection as go-plugin's AutoMTLS does. Curve is the curve of
	// our certificate's key: one of [Curves], by default the first.
	MTLS  *bool
	Curve string
	// Proto and Protoset are files that describe the plugin's methods. Proto has source
	// and generated code, Protoset what protoc -o writes. ProtoPath are the directories
	// for the imports of source.
	Proto, ProtoPath, Protoset []string
}

// Curves lists the values of [GRPC.Curve].
func Curves() []string { return []string{"P-256", "P-384", "P-521"} }

// Evidence records what a gRPC plugin did while it started.
type Evidence = grpcplugin.Evidence

// The reasons of two errors of kind Unhealthy: the status is not SERVING, or the server has no
// health service.
const (
	ReasonNotServing = grpcplugin.ReasonNotServing
	ReasonNoHealth   = grpcplugin.ReasonNoHealth
)

// A gRPC server that runs already, see [Connect].
type (
	Server   = grpcplugin.Server
	TLSFiles = grpcplugin.TLSFiles
)

// Connect connects to a gRPC server at unix:PATH or HOST:PORT. Nothing is started.
func Connect(ctx context.Context, address string, c Config) (*Server, error) {
	var err error
	if c.GRPC.Extra, err = describedBy(c); err != nil {
		return nil, hook.NewError(hook.Usage, err)
	}
	c.GRPC.Config.Debug = c.Debug
	return grpcplugin.Connect(ctx, address, c.GRPC.Config)
}

// IsLocal reports whether an address is a socket or a loopback address of this machine.
func IsLocal(address string) bool { return grpcplugin.IsLocal(address) }

// server is a gRPC plugin, a program that serves its hooks itself.
type server struct {
	*Opened
	program grpcplugin.Config // without Output
}

// openServer opens a gRPC plugin.
func openServer(o *Opened) (transport, error) {
	start := &o.settings.Timeouts.Start
	*start = cmp.Or(*start, DefaultHandshake)
	program, err := o.grpcConfig()
	o.settings.MTLS = program.MTLS
	return &server{o, program}, err
}

func (s *server) place() pysrc.Place { return s.programPlace() }

// programPlace returns the place of a plugin that Python runs as a program. Hosts run a script as
// python FILE, and a package as python -m. A module that runs only under its full name is run by
// that name.
func (o *Opened) programPlace() pysrc.Place {
	place := o.imported()
	switch {
	case place.Name == "":
		return pysrc.ScriptPlace(o.script)
	case o.plugin.Kind == manifest.Package:
		place.Last = ""
	}
	return place
}

func (s *server) launcher() hook.Launcher {
	c := s.program
	c.Output = s.config.Output
	return grpcplugin.New(c)
}

func (s *server) watched() (list func() []string, scans bool) {
	scripts, _, _ := s.Source()
	if len(scripts) == 0 {
		return func() []string { return nil }, false
	}
	dir := filepath.Dir(scripts[0])
	return func() []string { return pysrc.Files(dir) }, true
}

func (s *server) takesSeries() bool { return false }

// sourceHooks returns the methods that descriptors describe.
func (s *server) sourceHooks(ctx context.Context) []schema.Hook {
	found, _ := hook.Interruptible(ctx, func() ([]schema.Hook, error) {
		sources := s.program.Extra
		if s.program.Sources != nil {
			own, err := s.program.Sources()
			if err != nil {
				return nil, err
			}
			sources = append(own, sources...)
		}
		set, err := protoschema.MergeDescriptors(sources...)
		if err != nil {
			return nil, err
		}
		return set.Schema(true).Hooks, nil
	})
	return found
}

// grpcConfig says how a gRPC plugin is started. An error is of kind Usage.
func (o *Opened) grpcConfig() (grpcplugin.Config, error) {
	c, m, cfg := o.config, o.plugin.Manifest, o.config.GRPC.Config
	if h, named := manifest.Hosts[c.GRPC.Host]; named {
		m.CookieKey, m.CookieValue, m.ProtocolVersions, m.MTLS = h.CookieKey, h.CookieValue, h.Versions, &h.MTLS
	}
	cfg.Path, cfg.Env, cfg.Dir = o.plugin.Entry, o.environ, o.settings.Dir
	cfg.StartTimeout, cfg.StopTimeout, cfg.MaxMemory = o.settings.Timeouts.Start, o.settings.Timeouts.Stop, o.keep.MaxMemory
	// The default is longer for the first answer than for later ones.
	cfg.HealthTimeout = cmp.Or(c.Timeouts.Probe, given(m.Timeouts.Probe, Forever))
	cfg.Service, cfg.Curve = cmp.Or(cfg.Service, m.Probe), curves[c.GRPC.Curve]
	cfg.Observe, cfg.Debug = c.Observe, c.Debug
	var err error
	if cfg.Extra, err = describedBy(c); err != nil {
		return cfg, err
	}
	switch {
	case c.GRPC.NoCookie:
		cfg.CookieKey, cfg.CookieValue = "", ""
	case cfg.CookieKey == "":
		cfg.CookieKey, cfg.CookieValue = m.CookieKey, m.CookieValue
	}
	if len(cfg.Versions) == 0 {
		cfg.Versions = m.ProtocolVersions
	}
	if mtls := cmp.Or(c.GRPC.MTLS, m.MTLS); mtls != nil {
		cfg.MTLS = *mtls
	}
	if o.python.Path != "" {
		cfg.Sources, cfg.Cookie = o.pb2Sources, o.shownCookie
	}
	if cfg.Python = o.plugin.Shebang != ""; o.plugin.Kind != manifest.Executable {
		cfg.Python, cfg.Path = true, o.python.Path
		if cfg.Args, err = o.pythonArgs(); err != nil {
			return cfg, err
		}
	}
	cfg.Args = slices.Concat(cfg.Args, m.Args, c.GRPC.Arguments)
	return cfg, nil
}

// Program returns how a gRPC plugin is started. Other plugins have the zero value.
func (o *Opened) Program() grpcplugin.Config {
	if s, ok := o.transport.(*server); ok {
		return s.program
	}
	return grpcplugin.Config{}
}

var curves = map[string]elliptic.Curve{
	"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521(),
}

// asPackage runs a package or a module as python -m does, but from any directory. It changes
// sys.path before it imports anything from a file, because Python would search the working
// directory.
const asPackage = `import sys
sys.path[0], last, name = sys.argv[1:4]
if last:
    sys.path.append(last)
del sys.argv[1:4]
import runpy
runpy.run_module(name, run_name="__main__", alter_sys=True)`

// pythonArgs returns the arguments with which Python runs the plugin as a program.
func (o *Opened) pythonArgs() ([]string, error) {
	p, place := o.plugin, o.programPlace()
	if place.Name == "" {
		return []string{p.Entry}, nil
	}
	if _, err := os.Stat(filepath.Join(p.Entry, "__main__.py")); p.Module == "" && p.Kind == manifest.Package && errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no __main__.py, want one in a package that is a gRPC plugin", p.Path)
	}
	return []string{"-c", asPackage, place.First, place.Last, place.Name}, nil
}

// ParseHeader reads metadata of a gRPC request: NAME=VALUE or, as for HTTP, "NAME: VALUE".
// Its error reads after the name of a flag.
func ParseHeader(text string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if before, after, colon := strings.Cut(text, ":"); colon && len(before) < len(name) {
		name, value, ok = before, strings.TrimLeft(after, " \t"), true
	}
	name = strings.ToLower(name)
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.", r)
	})
	switch {
	case !ok || name == "" || bad:
		return "", "", fmt.Errorf("is %q, want NAME=VALUE or \"NAME: VALUE\" with a name of letters, digits, and . - or _", text)
	case strings.HasPrefix(name, "grpc-"), slices.Contains([]string{"te", "content-type", "user-agent"}, name):
		return "", "", fmt.Errorf("has the name %s, which is gRPC's own", name) // which would drop it
	case strings.HasSuffix(name, "-bin"):
		content, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			content, err = base64.RawStdEncoding.DecodeString(value)
		}
		if err != nil {
			return "", "", fmt.Errorf("has a value for %s that is not base64, which a name that ends in -bin needs", name)
		}
		value = string(content)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", "", fmt.Errorf("has the value %q for %s, want printable ASCII; a name that ends in -bin takes base64 of anything", value, name)
	}
	return name, value, nil
}
