package runner

import (
	"context"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// Opened is a plugin that is resolved but not started: its path, interpreter, transport and
// settings. It never changes, and is safe for concurrent use. The zero value is empty.
type Opened struct {
	resolved

	// The following are nil until the plugin is opened.
	transport transport
	files     *files
	launcher  *launcher // of all its pools
}

// Open resolves a plugin: its path, manifest, interpreter, transport and settings. It
// starts nothing. The result is never nil. After an error it has what was resolved before.
// The error is a [*hook.Error] of the kinds Usage, Interpreter and Canceled. Open returns
// when ctx ends, even while it reads a file that blocks.
func Open(ctx context.Context, c Config) (*Opened, error) {
	o, err := hook.Interruptible(ctx, func() (*Opened, error) { return open(ctx, c) })
	if o == nil {
		o = &Opened{resolved: resolved{config: c}}
	}
	return o, err
}

// openers open a plugin of each transport, by its name.
var openers = map[string]func(resolved) (transport, error){"pipe": openFunctions, "grpc": openServer}

func open(ctx context.Context, c Config) (o *Opened, err error) {
	o = &Opened{}
	if o.resolved, err = resolve(ctx, c); err != nil {
		return o, err
	}
	if o.transport, err = openers[o.config.Transport](o.resolved); err != nil {
		return o, hook.NewError(hook.Usage, err)
	}
	o.files = newFiles(&o.resolved, o.transport)
	o.launcher = &launcher{Launcher: o.transport.launcher(), started: c.Started}
	if !c.Once {
		o.launcher.files = o.files
	}
	return o, nil
}

// Plugin is what the path was resolved to.
func (o *Opened) Plugin() manifest.Plugin { return o.plugin }

// Config returns the configuration with the settings in force: what was asked for, the manifest says or is the default.
func (o *Opened) Config() Config { return o.config }

// Dir is the plugin's working directory.
func (o *Opened) Dir() string { return o.dir }

// Why returns what decided the transport, or "" if it is the default.
func (o *Opened) Why() string { return o.why }

// TakesSeries reports whether workers make a [hook.Series]: they make one call at a time, and
// results are not searched for errors.
func (o *Opened) TakesSeries() bool {
	return o.transport.takesSeries() && !o.plugin.Manifest.CarriesErrors
}

// Interpreter is the Python that was chosen; the zero one for an executable.
func (o *Opened) Interpreter() interp.Interpreter {
	if o.plugin.Kind == manifest.Executable {
		return interp.Interpreter{}
	}
	return o.python
}

// Environ is the plugin's environment.
func (o *Opened) Environ() []string { return o.environ }

// Resolved returns how long the search for the plugin and its manifest took.
func (o *Opened) Resolved() time.Duration { return o.took }

// Host is the host that --host or the manifest names; false if none is named.
func (o *Opened) Host() (settings.Host, bool) {
	host, named := settings.Hosts[o.config.Host]
	return host, named
}

// Program returns how a gRPC plugin is started. Other plugins have the zero value.
func (o *Opened) Program() Program { return programOf(o.transport) }

// SourceHooks returns a plugin's hooks with the first line of their documentation, and their
// parameters with their choices, as far as its files show them. It starts neither the plugin nor anything else that its
// files choose. After an error it returns no hooks.
func SourceHooks(ctx context.Context, c Config) []schema.Hook {
	c.Untrusted = true
	o, err := Open(ctx, c)
	if err != nil {
		return nil
	}
	return o.transport.sourceHooks(ctx)
}
