package runner

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// Transport is a way to run and call a plugin, as far as users notice it. The zero value is
// an unknown transport.
type Transport struct {
	// Name is "pipe" or "grpc".
	Name string
	// What names such a plugin in a message.
	What string
	// Serves reports whether the plugin is a server that hosts of go-plugin start, too.
	// Otherwise a worker of pyplug imports it.
	Serves bool
	// Streams reports whether a hook may read a stream of messages as its input.
	Streams bool
	// NoHooks says why such a plugin may have no hooks.
	NoHooks string

	// open adds the settings that depend on the transport.
	open func(o *Opened) (transport, error)
}

// transport starts one plugin and reads its files. It is safe for concurrent use.
type transport interface {
	// place says how Python imports the plugin.
	place() pysrc.Place
	// launcher returns what starts the plugin's processes.
	launcher() hook.Launcher
	// watched returns a function that lists the plugin's own files as far as they are
	// known. scans reports whether it finds files before the plugin imports them.
	watched() (list func() []string, scans bool)
	// sourceHooks returns the hooks that the plugin's files show.
	sourceHooks(ctx context.Context) []schema.Hook
	// takesSeries reports whether its instances make a [hook.Series].
	takesSeries() bool
}

// transports has every transport.
var transports = []Transport{
	{
		Name: "pipe", What: "a functions file", NoHooks: "it defines no public function",
		open: openFunctions,
	},
	{
		Name: "grpc", What: "a gRPC plugin", Serves: true, Streams: true,
		NoHooks: "no server reflection describes its methods, and no other descriptors were found",
		open:    openServer,
	},
}

// TransportOf returns the transport of a name, or the zero value.
func TransportOf(name string) Transport {
	for _, t := range transports {
		if t.Name == name {
			return t
		}
	}
	return Transport{}
}

// Transport returns how the plugin is run. It is the zero value until it is known.
func (o *Opened) Transport() Transport { return TransportOf(o.settings.Transport) }

// chooseTransport decides on the transport, and says why, without running the plugin.
// Below, an entry is that of [manifest.Plugin]: a file, or the directory of a package.
func (o *Opened) chooseTransport() (transport, why string) {
	switch {
	case o.config.Transport != "":
		return o.config.Transport, "--transport"
	case o.plugin.Manifest.Transport != "":
		return o.plugin.Manifest.Transport, o.plugin.Manifest.File
	case o.plugin.Kind == manifest.Executable:
		return "grpc", "it is an executable"
	case manifest.IsZip(o.script):
		return "grpc", "a zip application"
	}
	yes, why := false, ""
	if !o.lacksSource() {
		yes, why = o.looksGRPC()
	}
	switch {
	case yes:
		return "grpc", why
	case o.config.GRPC.Decides != "":
		return "grpc", o.config.GRPC.Decides
	case o.plugin.Manifest.Host != "":
		return "grpc", "its host is " + o.plugin.Manifest.Host
	}
	return "pipe", ""
}

// isFunctions reports whether an executable is a functions file: a Python script that defines
// public functions and does nothing that servers do, and neither does a file that it imports. A
// script beside its Python is not one: it was installed as a program.
func isFunctions(c Config, p manifest.Plugin) bool {
	switch transport := cmp.Or(c.Transport, p.Manifest.Transport); {
	case p.Kind != manifest.Executable || p.Shebang == "":
		return false
	case transport != "":
		return !TransportOf(transport).Serves
	case c.GRPC.Decides != "" || p.Manifest.Host != "":
		return false
	}
	script := scriptOf(p.Entry)
	files, _ := pysrc.Own(script, pysrc.PlaceOf(p.Entry, nil).Dirs(), pysrc.Short)
	installed := filepath.IsAbs(p.Shebang) && interp.SamePath(filepath.Dir(script), filepath.Dir(p.Shebang))
	if installed || !files[0].DefinesFunctions() {
		return false
	}
	var all pysrc.Serves
	for _, f := range files {
		all = all.With(f.Serves())
	}
	return !all.Any()
}

// scriptOf returns the file that Python runs for an entry. It follows links.
func scriptOf(entry string) string {
	if info, err := os.Stat(entry); err == nil && info.IsDir() {
		return filepath.Join(entry, "__main__.py")
	}
	if real, err := filepath.EvalSymlinks(entry); err == nil {
		return real
	}
	return filepath.Clean(entry)
}

// Place says how Python imports the plugin. It reads the file: an edit may change it.
func (o *Opened) Place() pysrc.Place {
	if o.transport == nil { // it is not known yet
		return o.imported()
	}
	return o.transport.place()
}

// imported returns the place of a plugin that is imported.
func (o *Opened) imported() pysrc.Place {
	switch p := o.plugin; {
	case p.Module != "":
		return modulePlace(p)
	case p.Kind == manifest.Executable || manifest.IsZip(o.script):
		return pysrc.ScriptPlace(o.script)
	default:
		return pysrc.PlaceOf(p.Entry, func() []string { return o.python.SearchPath(o.environ) })
	}
}

// modulePlace returns the place of what -m names, which is where Python finds it.
func modulePlace(p manifest.Plugin) pysrc.Place {
	place := pysrc.Place{Name: p.Module, First: p.From, Last: p.Src}
	switch {
	case p.Kind == manifest.Package:
		place.File = filepath.Join(p.Entry, "__init__.py")
	case strings.HasSuffix(p.Entry, ".py"):
		place.File = p.Entry
	}
	if place.File != "" {
		place.Root = p.Root()
	}
	return place
}

// looksGRPC reports whether a plugin is a gRPC plugin, and why. Either it imports a library
// that serves go-plugin's hosts. Or one of its own files prints a handshake, and one imports gRPC.
// One sign alone is not enough: any function may print such a line, and a test may
// start a server. If [pysrc.File.Serves] cannot detect the line, --transport is needed.
func (o *Opened) looksGRPC() (yes bool, why string) {
	printer := ""
	var all pysrc.Serves
	files, _ := pysrc.Own(o.script, o.dirs, pysrc.Short)
	for _, f := range files {
		if all = all.With(f.Serves()); all.PrintsHandshake && printer == "" {
			printer = f.Path
		}
	}
	switch {
	case all.PrintsHandshake && all.ImportsGRPC && printer == o.script:
		return true, "it imports gRPC and prints a handshake"
	case all.PrintsHandshake && all.ImportsGRPC:
		return true, o.shown(printer) + " prints a handshake"
	case all.SDK != "":
		return true, "it imports " + all.SDK
	}
	return false, ""
}

// shown returns a path for messages: relative to the directory of the entry or of its own
// modules if possible.
func (o *Opened) shown(path string) string {
	return schema.Relative(path, append([]string{filepath.Dir(o.plugin.Entry)}, o.dirs...)...)
}
