package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
)

// connectOrStart connects to the plugin that a plain word names, or starts the plugin at a
// path for a call or two. done ends its use.
func (f *program) connectOrStart(c *cli.Context, cfg runner.Config, ofPlugin []cli.Flag) (p hook.Plugin, done func(), err error) {
	client, err := f.byName(c, cfg.Plugin, ofPlugin)
	if err != nil {
		return nil, nil, err
	}
	if client != nil {
		return client, func() {}, nil
	}
	cfg.Once = true
	started, err := f.open(c.Context, cfg, nil)
	if err != nil {
		return nil, nil, err
	}
	return started.pool, started.close, nil
}

// byName connects to the plugin that a plain word names; nil for a path. It rejects flags
// that say how a plugin is started. A plain word that is neither a running name nor a path
// is an error of kind Unavailable.
func (f *program) byName(c *cli.Context, word string, ofPlugin []cli.Flag) (*daemon.Client, error) {
	if !plain(word) {
		return nil, nil
	}
	t, err := f.find(c.Context, word)
	if err != nil || t.name == "" {
		return nil, err
	}
	if t.unresponsive != nil {
		return nil, t.unresponsive
	}
	if name := firstTyped(ofPlugin); name != "" {
		return nil, usage("%s is for a plugin that is started, and %s runs already", name, word)
	}
	return f.connect(c.Context, t.name)
}
