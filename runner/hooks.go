package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/schema"
)

// maxKept is the largest size in bytes of a file that [KeepHooks] writes.
const maxKept = 16 << 20

// keptHooks is the content of a file of [KeepHooks].
type keptHooks struct {
	Digest string        `json:"digest"`
	Hooks  []schema.Hook `json:"hooks"`
}

// KeepHooks stores the hooks of a plugin in the user's cache, for [KeptHooks].
func KeepHooks(ctx context.Context, c plan.Config, hooks []schema.Hook) error {
	path, digest, err := keptFile(ctx, c)
	if err != nil {
		return err
	}
	text, err := json.Marshal(keptHooks{digest, hooks})
	if err != nil {
		return err
	}
	if old, _, err := bounded.Read(path, maxKept); err == nil && string(old) == string(text) {
		return nil
	}
	return bounded.Replace(path, text, 0o600)
}

// KeptHooks returns the stored hooks if the plugin's file, its manifest, its interpreter and its
// directories of packages have not changed. It ignores changes of files that the plugin imports.
func KeptHooks(ctx context.Context, c plan.Config) (hooks []schema.Hook, ok bool) {
	path, digest, err := keptFile(ctx, c)
	if err != nil {
		return nil, false
	}
	text, _, err := bounded.Read(path, maxKept)
	var kept keptHooks
	if err != nil || schema.Decode(text, &kept) != nil || kept.Digest != digest {
		return nil, false
	}
	return kept.Hooks, true
}

// keptFile returns the path of the file with a plugin's hooks, which does not depend on the
// plugin's content, and a digest that changes when the hooks have probably changed.
func keptFile(ctx context.Context, c plan.Config) (path, digest string, err error) {
	o, err := Open(ctx, c)
	if err != nil {
		return "", "", err
	}
	parts := []any{workerIdentity(), o.Config.NoConvert, o.Config.Transport}
	for _, path := range slices.Sorted(maps.Keys(fixedFiles(&o.Plan))) {
		parts = append(parts, path, stampOf(path))
	}
	dir, err := workerCache()
	name := "hooks-" + digestOf(o.Plugin.Entry, o.Plugin.Module, o.Python.Path) + ".json"
	return filepath.Join(dir, name), digestOf(parts...), err
}

// maxSource is the largest size in bytes of a source that is searched for a docstring.
const maxSource = 1 << 20

// Docstring returns the docstring of the module of a plugin in Python, or "" if there is none.
func Docstring(p manifest.Plugin) string {
	file := p.Entry
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "__init__.py")
	}
	if filepath.Ext(file) != ".py" {
		return ""
	}
	text, _ := pysrc.Read(file, maxSource)
	return pysrc.Docstring(text)
}

// digestOf returns a digest of values. They must not contain pointers or functions.
func digestOf(values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", values))
	return hex.EncodeToString(sum[:16])
}

// SourceHooks returns a plugin's hooks with the first line of their documentation and their
// parameters with choices, as far as its files show them. It does not start the plugin or any
// program that the plugin's files choose. If there is an error, it returns no hooks.
func SourceHooks(ctx context.Context, c plan.Config) []schema.Hook {
	c.Untrusted = true
	k, err := Open(ctx, c)
	if err != nil {
		return nil
	}
	return k.transport.sourceHooks(ctx)
}
