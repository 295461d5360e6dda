package runner

import (
	"context"
	"crypto/elliptic"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// GRPC is what concerns gRPC plugins alone. The zero value leaves it to the
// manifest, and then to the default.
type GRPC struct {
	// CookieKey and CookieValue are go-plugin's magic cookie. NoCookie sets
	// none, whatever the manifest says.
	CookieKey, CookieValue string
	NoCookie               bool
	// Versions are the application's protocol versions that are offered.
	Versions []int
	// MTLS secures the connection as go-plugin's AutoMTLS does; Curve is that
	// of our certificate's key, one of [Curves]; empty means the first.
	MTLS  *bool
	Curve string
	// Service is the name that health is asked for. AnyHealth takes a plugin
	// for ready whatever its health service says, or if it says nothing.
	Service   string
	AnyHealth bool
	// Metadata is sent with every call, as pairs of name and value.
	Metadata []string
	// MaxMessage is the size in bytes from which a message is refused.
	MaxMessage int
	// EmitDefaults makes fields without a value appear in results.
	EmitDefaults bool
	// Proto and Protoset are files that describe the plugin's methods, in
	// source and as protoc writes them; ProtoPath are the directories that
	// imports of the former are looked for in.
	Proto, ProtoPath, Protoset []string
}

// Curves lists the values of [GRPC.Curve].
func Curves() []string { return []string{"P-256", "P-384", "P-521"} }

// Evidence is what was seen of a start of a gRPC plugin.
type Evidence = grpcplugin.Evidence

// ReasonNotServing is the reason of an error of kind Unhealthy about a server that
// answered with another status than SERVING.
const ReasonNotServing = grpcplugin.ReasonNotServing

// A server that is asked for its health where it is, see [ProbeAddress].
type (
	AddressOptions = grpcplugin.AddressOptions
	TLSFiles       = grpcplugin.TLSFiles
)

// ProbeAddress asks a gRPC server at unix:PATH or HOST:PORT for its health, and
// starts nothing.
func ProbeAddress(ctx context.Context, address string, o AddressOptions) error {
	return grpcplugin.ProbeAddress(ctx, address, o)
}

// WatchAddress follows the health of a gRPC server until ctx ends or report
// returns an error.
func WatchAddress(ctx context.Context, address string, o AddressOptions, report func(status string) error) error {
	return grpcplugin.WatchAddress(ctx, address, o, report)
}

// grpcConfig says how a gRPC plugin is started.
func (o *Opened) grpcConfig() (grpcplugin.Config, error) {
	c, m := o.config, o.plugin.Manifest
	cfg := grpcplugin.Config{
		Path: o.plugin.Entry, Env: o.environ, Dir: o.settings.Dir,
		CookieKey: m.CookieKey, CookieValue: m.CookieValue,
		Versions:     m.ProtocolVersions,
		Curve:        curves[c.GRPC.Curve],
		StartTimeout: o.settings.Timeouts.Start,
		StopTimeout:  o.settings.Timeouts.Stop,
		Limits:       o.keep.limits(),
		// The default is longer for the first answer than for later ones.
		HealthTimeout: or(c.Timeouts.Probe, limit(m.Timeouts.Probe)),
		Service:       or(c.GRPC.Service, m.Probe),
		AnyHealth:     c.GRPC.AnyHealth,
		Metadata:      c.GRPC.Metadata,
		MaxMessage:    c.GRPC.MaxMessage,
		EmitDefaults:  c.GRPC.EmitDefaults,
		Observe:       c.Observe,
		Debug:         c.Debug,
	}
	var err error
	if cfg.Extra, err = describedBy(c); err != nil {
		return cfg, fail(hook.Usage, err)
	}
	switch {
	case c.GRPC.NoCookie:
		cfg.CookieKey, cfg.CookieValue = "", ""
	case c.GRPC.CookieKey != "":
		cfg.CookieKey, cfg.CookieValue = c.GRPC.CookieKey, c.GRPC.CookieValue
	}
	if len(c.GRPC.Versions) > 0 {
		cfg.Versions = c.GRPC.Versions
	}
	if mtls := or(c.GRPC.MTLS, m.MTLS); mtls != nil && *mtls {
		cfg.Security = grpcplugin.MutualTLS
	}
	if _, python, _ := o.Source(); python.Path != "" {
		environ, entry := o.environ, o.plugin.Entry
		cfg.Sources = func(context.Context) ([]protoschema.Source, error) { return pb2Sources(python, environ, entry) }
	}
	if o.plugin.Kind == manifest.Executable {
		cfg.Python = o.plugin.Shebang != ""
		return cfg, nil
	}
	cfg.Python, cfg.Path = true, o.python.Path
	if cfg.Args, err = pythonArgs(o.plugin); err != nil {
		return cfg, fail(hook.Usage, err)
	}
	return cfg, nil
}

// Program is what a host of go-plugin knows of the plugin, and what it starts; the zero
// value for a functions file.
func (o *Opened) Program() Program {
	if o.grpc.Path == "" {
		return Program{}
	}
	c := o.grpc
	return Program{
		Command: append([]string{c.Path}, c.Args...), Env: c.Env, Dir: c.Dir, Python: c.Python,
		CookieKey: c.CookieKey, CookieValue: c.CookieValue,
		Versions: c.Versions, MTLS: c.Security == grpcplugin.MutualTLS,
	}
}

// Program is a gRPC plugin as a host of go-plugin knows it.
type Program struct {
	// Command is the program, by its absolute path, and its arguments.
	Command []string
	// Env is the whole environment but for what a host sets itself, Dir the
	// working directory.
	Env []string
	Dir string
	// Python reports that a Python runs it.
	Python                 bool
	CookieKey, CookieValue string
	Versions               []int // none: 1 alone
	MTLS                   bool
}

var curves = map[string]elliptic.Curve{
	"": elliptic.P256(), "P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521(),
}

// asPackage runs a package as python -m does, wherever it is: -m would look for
// it from the working directory. Until sys.path is changed Python looks for
// modules there, too, but for sys, which is built in.
const asPackage = `import sys
sys.path[0], name = sys.argv[1:3]
del sys.argv[1:3]
import runpy
runpy.run_module(name, run_name="__main__", alter_sys=True)`

// pythonArgs are the arguments with which Python runs a plugin as a program.
func pythonArgs(p manifest.Plugin) ([]string, error) {
	if p.Kind != manifest.Package {
		return []string{p.Entry}, nil
	}
	if _, err := os.Stat(filepath.Join(p.Entry, "__main__.py")); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no __main__.py, want one in a package that is a gRPC plugin", p.Path)
	}
	root, name := packageIn(p.Entry)
	return []string{"-c", asPackage, root, name}, nil
}

// Oddities are what other hosts would refuse about a plugin that was started.
func Oddities(e Evidence) []string {
	var notes []string
	switch {
	case e.NoiseLines == 1:
		notes = append(notes, fmt.Sprintf("it printed %v before its handshake, which other hosts refuse", e.Noise[0]))
	case e.NoiseLines > 1:
		notes = append(notes, fmt.Sprintf("it printed %d lines before its handshake, the first %s, which other hosts refuse",
			e.NoiseLines, e.Noise[0]))
	}
	for _, n := range e.Line.Notes {
		if n.Refused {
			notes = append(notes, n.Text+", which other hosts refuse")
		}
	}
	return notes
}
