package runner

import (
	"context"
	_ "embed"
	"strings"

	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/schema"
)

//go:embed names.py
var namesSource string

// SourceHooks returns the names and the first line of documentation of a plugin's hooks,
// as far as its files show them. It starts neither the plugin nor anything else that its files
// choose, and knows none rather than return an error.
func SourceHooks(ctx context.Context, c Config) []schema.Hook {
	c.Untrusted = true
	o, err := Open(ctx, c)
	if err != nil {
		return nil
	}
	return o.transport.sourceHooks(ctx)
}

// sourceHooks has a Python parse the file.
func (f *functions) sourceHooks(ctx context.Context) (hooks []schema.Hook) {
	scripts, _, _ := f.Source()
	python, vars, err := f.reader(ctx)
	if len(scripts) == 0 || err != nil {
		return nil
	}
	// Isolated and without site: the plugin's own directories and packages do not matter.
	out, err := proc.Run(ctx, proc.Tool{Path: python, Args: []string{"-I", "-S", "-c", namesSource, scripts[0]}, Env: vars})
	if err != nil || out.Exit.Code != 0 {
		return nil
	}
	for line := range strings.Lines(string(out.Stdout)) {
		name, doc, _ := strings.Cut(strings.TrimSpace(line), "\t")
		hooks = append(hooks, schema.Hook{Name: name, Doc: doc})
	}
	return hooks
}
