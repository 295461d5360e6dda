package runner

import (
	"context"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// transport starts one plugin and reads its files. It is safe for concurrent use.
type transport interface {
	// launcher returns what starts the plugin's processes.
	launcher() hook.Launcher
	// watched lists the plugin's own files as far as they are known.
	watched() []string
	// sourceHooks returns the hooks that the plugin's files show.
	sourceHooks(ctx context.Context) []schema.Hook
	// takesSeries reports whether its instances make a [hook.Series].
	takesSeries() bool
}
