package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// launcher is the launcher that all workers of a plugin share. It knows what a worker
// alone cannot: that the plugin's files changed since a zygote imported them, that
// another instance listens at the same address, and where results carry errors. It is
// safe for concurrent use.
type launcher struct {
	hook.Launcher
	opened *Opened

	mu      sync.Mutex                      // protects the following
	version string                          // of the plugin's files at the newest launch
	living  map[string]*grpcplugin.Instance // by where they listen
}

// Renew makes the next start import the plugin again.
func (l *launcher) Renew() {
	if inner, ok := l.Launcher.(interface{ Renew() }); ok {
		inner.Renew()
	}
}

// Launch starts one instance.
func (l *launcher) Launch(ctx context.Context) (hook.Instance, error) {
	if !l.opened.config.Once {
		l.refresh()
		defer l.opened.files.ask() // also of what a failed start has imported
	}
	inst, err := l.Launcher.Launch(ctx)
	if err != nil {
		return nil, l.alone(err)
	}
	if started := l.opened.config.Started; started != nil {
		started(inst.Info())
	}
	one := worker{Instance: inst, field: l.opened.settings.ErrorField}
	if g, ok := inst.(*grpcplugin.Instance); ok {
		if err := l.register(ctx, g); err != nil {
			return nil, err
		}
		return &grpcWorker{worker: one, grpc: g, secure: l.opened.grpc.Security == grpcplugin.MutualTLS}, nil
	}
	return &one, nil
}

// refresh renews a zygote that has imported what has changed since.
func (l *launcher) refresh() {
	now := l.opened.files.version()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.version != "" && l.version != now {
		l.Renew()
	}
	l.version = now
}

// register notes where an instance listens. Calls would reach either of two instances
// that listen at the same address, which Python's gRPC allows: the newer one is stopped.
func (l *launcher) register(ctx context.Context, g *grpcplugin.Instance) error {
	at := g.Reattach().Addr.String
	l.mu.Lock()
	other := l.listens(at)
	if other == nil {
		l.living[at] = g
	}
	l.mu.Unlock()
	if other == nil {
		return nil
	}
	_ = g.Stop(ctx) // the error to report is ours
	<-g.Done()
	return hook.NewError(hook.Start, &AloneError{Address: at})
}

// listens is the live instance that listens at an address, or at any if that is empty;
// nil if there is none. l.mu is held.
func (l *launcher) listens(at string) *grpcplugin.Instance {
	for where, g := range l.living {
		select {
		case <-g.Done():
			delete(l.living, where)
		default:
			if at == "" || at == where {
				return g
			}
		}
	}
	return nil
}

// inUse is what programs print when another one has their port: Python and Go, gRPC in
// Python, and Windows.
var inUse = []string{"address already in use", "failed to bind to address", "only one usage of each socket address"}

// alone makes a failed start an [*AloneError] if the reason is that another instance
// has the port.
func (l *launcher) alone(err error) error {
	l.mu.Lock()
	other := l.listens("")
	l.mu.Unlock()
	e := (*hook.Error)(nil)
	if other == nil || !errors.As(err, &e) {
		return err
	}
	said := []string{e.Error()}
	if e.Exit != nil {
		said = append(said, e.Exit.Stderr...)
	}
	all := strings.ToLower(strings.Join(said, "\n"))
	taken := e.Reason == grpcplugin.ReasonForeignAddress
	for _, words := range inUse {
		taken = taken || strings.Contains(all, words)
	}
	if !taken {
		return err
	}
	own := *e
	own.Err = &AloneError{Address: other.Reattach().Addr.String, Err: err}
	own.Hints = append(own.Hints, portHint)
	return &own
}

// AloneError says that a gRPC plugin cannot run twice: it listens at the same address
// at every start.
type AloneError struct {
	Address string
	// Err is why the start failed, nil if it succeeded.
	Err error
}

// Error names the address.
func (e *AloneError) Error() string {
	text := "the running plugin already listens at " + e.Address
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *AloneError) Unwrap() error { return e.Err }

const portHint = "listen on port 0 and print the address that the system chose, so that several workers can run"

// Hints say how the plugin can run more than once.
func (e *AloneError) Hints() []string { return []string{portHint} }

// whyAlone returns why a start failed if the only reason is that another instance
// lives.
func whyAlone(err error) string {
	if e := (*AloneError)(nil); errors.As(err, &e) {
		return "it listens at " + e.Address + " at every start"
	}
	return ""
}

// worker is an instance whose results may carry errors.
type worker struct {
	hook.Instance
	field string // where; empty: nowhere
}

// Call calls a hook.
func (w *worker) Call(ctx context.Context, c hook.Call) (hook.Result, error) {
	return CallCarrying(ctx, w.Instance, w.field, c)
}

// Crash kills the process as something outside of pyplug would. It returns
// [os.ErrProcessDone] if it is gone.
func (w *worker) Crash() error {
	if i, ok := w.Instance.(interface{ Crash() error }); ok {
		return i.Crash()
	}
	return os.ErrProcessDone
}

// grpcWorker is an instance of a gRPC plugin.
type grpcWorker struct {
	worker
	grpc   *grpcplugin.Instance
	secure bool // by mTLS, whose key is ours alone
}

// Health asks the plugin whether it is healthy. A plugin without a health service
// cannot say so: that is an error, though the instance counts as alive.
func (w *grpcWorker) Health(ctx context.Context) error { return ProbeInstance(ctx, w.grpc) }

// ProbeInstance asks an instance whether it is healthy. See [grpcWorker.Health]. An
// instance that does not answer while it works on a call counts as healthy: a server
// with one thread is busy then, and the call has a limit.
func ProbeInstance(ctx context.Context, inst hook.Instance) error {
	g, ok := inst.(*grpcplugin.Instance)
	if !ok {
		return inst.Probe(ctx)
	}
	busy := g.Busy()
	err := g.Probe(ctx)
	if late := (*hook.Error)(nil); errors.As(err, &late) && late.Kind == hook.Timeout && (busy || g.Busy()) {
		return nil
	}
	if none := g.Evidence().Unhealthy; err == nil && none != nil && none.Reason == grpcplugin.ReasonNoHealth {
		return none
	}
	return err
}

// Hook describes one hook, by any of its names, with its template.
func (w *grpcWorker) Hook(ctx context.Context, name string) (schema.Schema, error) {
	text, err := w.grpc.Template(ctx, name)
	if err != nil {
		return schema.Schema{}, err
	}
	all, err := w.grpc.Describe(ctx)
	if err != nil {
		return schema.Schema{}, err
	}
	found := schema.Hook{Name: name}
	for _, h := range all.Hooks {
		if h.Name == name || strings.HasSuffix(h.Name, "/"+name) || strings.HasSuffix(h.Name, "."+name) {
			found = h
		}
	}
	found.Template = text
	return schema.Schema{Hooks: []schema.Hook{found}}, nil
}

// Attach says how another host of go-plugin attaches to the plugin, in the JSON that
// Terraform reads; nil with mTLS.
func (w *grpcWorker) Attach() json.RawMessage {
	if w.secure {
		return nil
	}
	text, err := json.Marshal(w.grpc.Reattach())
	if err != nil {
		panic(fmt.Sprintf("reattach: %v", err)) // it has no value that cannot be marshaled
	}
	return text
}

// WatchHealth follows the plugin's health service; false if it has none.
func (w *grpcWorker) WatchHealth(ctx context.Context, report func(status string) error) (bool, error) {
	err := w.grpc.Watch(ctx, report)
	if none := (*hook.Error)(nil); errors.As(err, &none) && none.Reason == grpcplugin.ReasonNoHealth {
		return false, nil
	}
	return true, err
}
