package commands

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/service"
)

// connect connects to the background plugin that word means.
func (f *program) connect(ctx context.Context, word string) (*plugin, error) {
	id, err := service.FindRunning(ctx, word)
	if err != nil {
		return nil, err
	}
	return f.connectTo(ctx, id.Name, word)
}

// connectTo connects to the background plugin name, which messages call word.
func (f *program) connectTo(ctx context.Context, name, word string) (*plugin, error) {
	c, err := daemon.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return &plugin{f: f, path: word, client: c, elsewhere: true}, nil
}

// connectNamed connects to the background plugin that a plain word means. It returns nil if
// the word is a path, or that plugin does not run.
func (f *program) connectNamed(ctx context.Context, word string) (*plugin, error) {
	if !service.Plain(word) {
		return nil, nil
	}
	id, err := service.Find(ctx, word)
	if err != nil || id.Name == "" {
		return nil, err
	}
	return f.connectTo(ctx, id.Name, word)
}

// connectOrStart connects to the background plugin with the name cfg.Plugin, or starts the
// plugin at that path for a call or two. With a name it rejects the flags ofPlugin, which
// say how a plugin is started.
func (f *program) connectOrStart(ctx context.Context, cfg runner.Config, ofPlugin []cli.Flag) (*plugin, error) {
	p, err := f.connectNamed(ctx, cfg.Plugin)
	if err != nil {
		return nil, err
	}
	if p == nil {
		cfg.Once = true
		return f.launch(ctx, cfg, nil)
	}
	if name := firstTyped(ofPlugin); name != "" {
		return nil, p.failed(usage("%s does not apply to %s, which is already running", name, cfg.Plugin))
	}
	return p, nil
}

// isNotRunning reports whether an error says that nothing runs under a name.
func isNotRunning(err error) bool { return daemon.Is(err, daemon.NotRunning) }
