package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// mostKept is how many bytes the file of kept hooks may have.
const mostKept = 16 << 20

// keptHooks is the file of [KeepHooks].
type keptHooks struct {
	Digest string        `json:"digest"`
	Hooks  []schema.Hook `json:"hooks"`
}

// KeepHooks keeps the hooks of a plugin in the user's cache, for [KeptHooks]. It keeps nothing if
// the plugin cannot be opened.
func KeepHooks(ctx context.Context, c Config, hooks []schema.Hook) error {
	o, err := Open(ctx, c)
	if err != nil {
		return nil // its start reports it
	}
	path, err := o.keptPath()
	if err != nil {
		return err
	}
	text, err := json.Marshal(keptHooks{o.filesDigest(), hooks})
	if err != nil {
		return err
	}
	if old, _, err := bounded.Read(path, mostKept); err == nil && string(old) == string(text) {
		return nil
	}
	return bounded.Replace(path, text, 0o600)
}

// KeptHooks returns the hooks that were kept, if the plugin's file, its manifest, its interpreter
// and its directories of packages have not changed. Files that it imports may have changed.
func KeptHooks(ctx context.Context, c Config) (hooks []schema.Hook, ok bool) {
	o, err := Open(ctx, c)
	if err != nil {
		return nil, false
	}
	path, err := o.keptPath()
	if err != nil {
		return nil, false
	}
	text, _, err := bounded.Read(path, mostKept)
	var kept keptHooks
	if err != nil || json.Unmarshal(text, &kept) != nil || kept.Digest != o.filesDigest() {
		return nil, false
	}
	return kept.Hooks, true
}

// keptPath returns the file of a plugin. The path stays the same when the plugin changes.
func (o *Opened) keptPath() (string, error) {
	dir, err := workerCache()
	return filepath.Join(dir, "hooks-"+DigestOf(o.plugin.Entry, o.plugin.Module, o.python.Path)+".json"), err
}

// filesDigest returns a digest that changes when the hooks have probably changed.
func (o *Opened) filesDigest() string {
	files := o.fixedFiles()
	parts := []any{workerIdentity(), o.config.NoConvert, o.config.Transport}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		parts = append(parts, path, stampOf(path))
	}
	return DigestOf(parts...)
}

// DigestOf returns a digest of values that have neither pointers nor functions.
func DigestOf(parts ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", parts))
	return hex.EncodeToString(sum[:16])
}
