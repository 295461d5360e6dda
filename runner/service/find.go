package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/daemon"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
)

// Find returns the background plugin that word, a NAME or a PLUGIN, means: the plugin with that
// name, or one whose name differs only in _ and -, or the one that runs from that path. It returns
// the zero Identity if word is a plugin that does not run. If word is neither, the error has kind
// Unavailable for a word that [Plain] accepts; for a path it says what is wrong with the path.
func Find(ctx context.Context, word string) (daemon.Identity, error) {
	none := daemon.Identity{}
	if word == "" {
		return none, hook.NewError(hook.Usage, errors.New("NAME is empty"))
	}
	running, listErr := daemon.List(ctx)
	if i := indexOf(running, word); i >= 0 {
		return running[i], nil
	}
	p, err := hook.Interruptible(ctx, func() (manifest.Plugin, error) { return resolve(ctx, word) })
	entry := schema.Path(p.Entry)
	if err != nil { // the file may have been removed since the plugin started
		path, _ := filepath.Abs(word)
		entry = schema.Path(path)
	}
	running = slices.DeleteFunc(running, func(e daemon.Identity) bool { return entry == "" || e.Entry != entry })
	switch own := slices.IndexFunc(running, func(e daemon.Identity) bool { return e.Name == p.ID }); {
	case len(running) == 1:
		return running[0], nil
	case own >= 0: // if several run, choose the one with the plugin's own name
		return running[own], nil
	case len(running) > 1:
		return none, &hook.Error{Kind: hook.Usage, Hints: schema.Hints("name one of them"),
			Err: fmt.Errorf("%s runs under several names: %s", word, strings.Join(Names(running), ", "))}
	case err != nil && hook.AsError(err).Kind == hook.Canceled, err == nil && listErr == nil:
		return none, err
	case listErr != nil:
		return none, listErr
	case Plain(word):
		return none, daemon.NotRunningError(word)
	}
	return none, hook.NewError(hook.Usage, err)
}

// indexOf returns the index of the plugin that a typed name means, or -1. Package commands/fastcall
// has a part of this rule.
func indexOf(running []daemon.Identity, word string) int {
	exact := slices.IndexFunc(running, func(e daemon.Identity) bool { return e.Name == word })
	if exact >= 0 {
		return exact
	}
	dashed := func(name string) string { return strings.ReplaceAll(name, "_", "-") }
	return slices.IndexFunc(running, func(e daemon.Identity) bool { return dashed(e.Name) == dashed(word) })
}

// FindRunning is like [Find], but a plugin that does not run is an error.
func FindRunning(ctx context.Context, word string) (daemon.Identity, error) {
	id, err := Find(ctx, word)
	if err == nil && id.Name == "" {
		err = daemon.NotRunningError(word)
	}
	return id, err
}

// FindAll returns the running plugins for words, or all plugins if words is empty. If a directory
// cannot be read, it returns an error and the plugins of the other directories.
func FindAll(ctx context.Context, words []string) (all []daemon.Identity, err error) {
	if len(words) == 0 {
		return daemon.List(ctx)
	}
	for _, word := range words {
		id, err := FindRunning(ctx, word)
		if err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	return all, nil
}

// resolve returns the plugin at a path or with a module name. Only Python can find a module.
func resolve(ctx context.Context, word string) (manifest.Plugin, error) {
	if _, ok := manifest.ModuleOf(word); !ok {
		return manifest.Resolve(word, "")
	}
	dir, err := os.Getwd()
	if err != nil {
		return manifest.Plugin{}, err
	}
	o, err := runner.Open(ctx, plan.Config{Plugin: word, Cwd: dir, Environ: os.Environ()})
	return o.Plugin, err
}

// Plain reports whether a word does not look like a path, and is therefore meant as a name.
func Plain(word string) bool { return word != "" && !strings.ContainsAny(word, `./\ `) }

// Names returns the names of plugins.
func Names(plugins []daemon.Identity) []string {
	names := make([]string, len(plugins))
	for i, id := range plugins {
		names[i] = id.Name
	}
	return names
}
