package runner

import (
	"context"
	"sync/atomic"

	"github.com/pyplug/pyplug/runner/hook"
)

// launcher is shared by all pools of a plugin. Each launch uses the current files of the plugin. It
// is safe for concurrent use.
type launcher struct {
	hook.Launcher
	files   *files                    // nil if there is only one launch
	newest  atomic.Pointer[hook.Info] // nil if no process was ready
	version atomic.Int64              // the version of the plugin's files at the newest launch
	pools   atomic.Int64              // number of pools that use it
}

// Launch starts one instance of the current files.
func (l *launcher) Launch(ctx context.Context) (hook.Instance, error) {
	if l.files != nil {
		if now := int64(l.files.version()); l.version.Load() != now {
			l.Renew() // before the version is stored; otherwise a second launch could fork from a zygote of older files
			l.version.Store(now)
		}
		defer l.files.version() // add the files that a failed start has imported
	}
	inst, err := l.Launcher.Launch(ctx)
	if err == nil {
		info := inst.Info()
		l.newest.Store(&info)
	}
	return inst, err
}

// Close releases the resources that launches share when the last pool calls it. Each pool calls it
// once.
func (l *launcher) Close(ctx context.Context) error {
	if l.pools.Add(-1) > 0 {
		return nil
	}
	return l.Launcher.Close(ctx)
}
