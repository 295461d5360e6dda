package runner

import (
	"context"
	"sync/atomic"

	"github.com/pyplug/pyplug/runner/hook"
)

// launcher is the launcher that all workers of a plugin share. It keeps the plugin's
// files in step with its starts. It is safe for concurrent use.
type launcher struct {
	hook.Launcher
	opened  *Opened
	version atomic.Int64 // of the plugin's files at the newest launch
}

// Renew makes the next start import the plugin again.
func (l *launcher) Renew() {
	if l.opened.worker != nil {
		l.opened.worker.Renew()
	}
}

// Launch starts one instance, of the files as they are now.
func (l *launcher) Launch(ctx context.Context) (hook.Instance, error) {
	if !l.opened.config.Once {
		if now := int64(l.opened.files.version()); l.version.Swap(now) != now {
			l.Renew() // a zygote has imported what has changed since
		}
		defer l.opened.files.version() // it learns also of what a failed start has imported
	}
	inst, err := l.Launcher.Launch(ctx)
	if started := l.opened.config.Started; err == nil && started != nil {
		started(inst.Info())
	}
	return inst, err
}
