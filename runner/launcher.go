package runner

import (
	"context"
	"sync"

	"github.com/pyplug/pyplug/runner/hook"
)

// launcher is the launcher that all workers of a plugin share. It keeps the plugin's
// files in step with its starts. It is safe for concurrent use.
type launcher struct {
	hook.Launcher
	opened *Opened

	mu      sync.Mutex // protects the following
	version string     // of the plugin's files at the newest launch
}

// Renew makes the next start import the plugin again.
func (l *launcher) Renew() {
	if l.opened.worker != nil {
		l.opened.worker.Renew()
	}
}

// Launch starts one instance.
func (l *launcher) Launch(ctx context.Context) (hook.Instance, error) {
	if !l.opened.config.Once {
		l.refresh()
		defer l.opened.files.ask() // also of what a failed start has imported
	}
	inst, err := l.Launcher.Launch(ctx)
	if started := l.opened.config.Started; err == nil && started != nil {
		started(inst.Info())
	}
	return inst, err
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
