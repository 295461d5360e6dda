package commands

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// find returns the background plugin that word means, where NAME or PLUGIN may stand: the
// one with that name, else the one that runs from that path. It returns the zero Identity for
// a plugin that does not run. The error is of kind Unavailable for a plain word that is
// neither a name nor a plugin, and that of the path otherwise.
func (f *program) find(ctx context.Context, word string) (daemon.Identity, error) {
	none := daemon.Identity{}
	if word == "" {
		return none, usage("NAME is empty")
	}
	running, listErr := daemon.List(ctx)
	if i := slices.IndexFunc(running, func(e daemon.Identity) bool { return e.Name == word }); i >= 0 {
		return running[i], nil
	}
	p, err := hook.Interruptible(ctx, func() (manifest.Plugin, error) { return resolve(ctx, word) })
	entry := schema.Path(p.Entry)
	if err != nil { // the file may be gone since the plugin started
		path, _ := filepath.Abs(word)
		entry = schema.Path(path)
	}
	running = slices.DeleteFunc(running, func(e daemon.Identity) bool { return entry == "" || e.Entry != entry })
	switch own := slices.IndexFunc(running, func(e daemon.Identity) bool { return e.Name == p.ID }); {
	case len(running) == 1:
		return running[0], nil
	case own >= 0: // of several, the one with the plugin's own name
		return running[own], nil
	case len(running) > 1:
		return none, hinted(usage("%s runs under several names: %s", word, strings.Join(namesIn(running), ", ")), "name one of them")
	case asCanceled(err) != nil, err == nil && listErr == nil:
		return none, err
	case listErr != nil:
		return none, listErr
	case plain(word):
		return none, daemon.NotRunningError(word)
	}
	return none, hook.NewError(hook.Usage, err)
}

// resolve finds what runs when word is named as a plugin. Only Python knows where a module is.
func resolve(ctx context.Context, word string) (manifest.Plugin, error) {
	if _, ok := manifest.ModuleOf(word); !ok {
		return manifest.Resolve(word, "")
	}
	var cfg runner.Config
	if err := openConfig(&cfg, word); err != nil {
		return manifest.Plugin{}, err
	}
	o, err := runner.Open(ctx, cfg)
	return o.Plugin(), err
}

// plain reports whether a word does not look like a path: it is meant as a name.
func plain(word string) bool { return word != "" && !strings.ContainsAny(word, `./\ `) }

func namesIn(entries []daemon.Identity) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

// running returns the background plugin that word means, which must run.
func (f *program) running(ctx context.Context, word string) (daemon.Identity, error) {
	e, err := f.find(ctx, word)
	if err == nil && e.Name == "" {
		err = daemon.NotRunningError(word)
	}
	return e, err
}

// connect returns a client of the background plugin that word means.
func (f *program) connect(ctx context.Context, word string) (*daemon.Client, error) {
	e, err := f.running(ctx, word)
	if err != nil {
		return nil, err
	}
	return f.connectTo(ctx, e.Name, word)
}

// connectTo returns a client of the background plugin name, which messages call word.
func (f *program) connectTo(ctx context.Context, name, word string) (*daemon.Client, error) {
	c, err := daemon.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	f.plugin = &plugin{f: f, path: word, daemon: c.Identity()}
	return c, nil
}

// connectNamed returns a client of the background plugin that a plain word means; nil if
// the word is a path, or that plugin does not run.
func (f *program) connectNamed(ctx context.Context, word string) (*daemon.Client, error) {
	if !plain(word) {
		return nil, nil
	}
	e, err := f.find(ctx, word)
	if err != nil || e.Name == "" {
		return nil, err
	}
	return f.connectTo(ctx, e.Name, word)
}

// connectOrStart connects to the background plugin with the name cfg.Plugin, or starts the
// plugin at that path for a call or two. With a name it rejects the flags ofPlugin, which
// say how a plugin is started. done ends the use of the plugin.
func (f *program) connectOrStart(c *cli.Context, cfg runner.Config, ofPlugin []cli.Flag) (p hook.Plugin, done func(), err error) {
	client, err := f.connectNamed(c.Context, cfg.Plugin)
	switch name := firstTyped(ofPlugin); {
	case err != nil:
		return nil, nil, err
	case client != nil && name != "":
		return nil, nil, usage("%s does not apply to %s, which is already running", name, cfg.Plugin)
	case client != nil:
		return client, func() {}, nil
	}
	cfg.Once = true
	started, err := f.open(c.Context, cfg, nil)
	if err != nil {
		return nil, nil, err
	}
	return started.pool, started.close, nil
}

// isNotRunning reports whether an error says that nothing runs under a name.
func isNotRunning(err error) bool { return daemon.Is(err, daemon.NotRunning) }
