package runner

import (
	"context"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// transport starts one plugin and reads its files. It is safe for concurrent use.
type transport interface {
	// launcher returns the launcher of the plugin's processes.
	launcher() hook.Launcher
	// watched lists the known files of the plugin.
	watched() []string
	// sourceHooks returns the hooks in the plugin's files.
	sourceHooks(ctx context.Context) []schema.Hook
	// debug replaces this process with a Python that makes a call. It returns only if it fails.
	debug(c hook.Call) error
	// takesSeries reports whether its instances can make a [hook.Series].
	takesSeries() bool
}
