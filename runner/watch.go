package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/hook"
)

// Digest returns a digest of the plugin's own files, as far as they are known, and of its manifest.
// If ctx ends, the error is of kind Canceled.
func (k *Keeper) Digest(ctx context.Context) (string, error) {
	return hook.Interruptible(ctx, func() (string, error) {
		files, _ := k.files.look(ownFile, nil)
		if file := k.Plugin.Manifest.File; file != "" {
			files[file] = fileStamp{}
		}
		sum := sha256.New()
		for _, path := range slices.Sorted(maps.Keys(files)) {
			name, err := filepath.Rel(filepath.Dir(k.Plugin.Entry), path)
			if err != nil {
				name = path
			}
			fmt.Fprintln(sum, name)
			if file, info, err := bounded.Open(path); err == nil { // an unreadable file counts as missing
				fmt.Fprintln(sum, info.Size())
				_, _ = io.Copy(sum, file)
				_ = file.Close() // nothing was written
			}
		}
		return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
	})
}

// Snapshot takes a snapshot of the plugin's files. If ctx ends, the error is of kind Canceled.
func (k *Keeper) Snapshot(ctx context.Context) (Snapshot, error) {
	return hook.Interruptible(ctx, func() (Snapshot, error) {
		seen, _ := k.files.look(startFile, nil)
		return Snapshot{k.files, seen}, nil
	})
}

// Reload replaces the workers with workers that load the current files, and returns the state of these.
// The errors are those of [pool.Pool.Restart], after which the old workers stay.
func (k *Keeper) Reload(ctx context.Context, reason string) (Snapshot, error) {
	now, err := k.Snapshot(ctx)
	if err == nil {
		err = k.Pool.Restart(ctx, reason)
	}
	return now, err
}

// watchEvery is how often [Keeper.Watch] looks at the files.
const watchEvery = 250 * time.Millisecond

// Watch calls load with the changed files until ctx ends, whenever the plugin's own files
// differ: at first from since, then from their state at the last change. Editors write in
// steps, so a change counts once the files are the same at two looks, a quarter of a second
// apart. A change while load runs ends the context of load, and the next call begins after it.
//
// The manifest and the interpreter are not watched: they are read when the plugin is
// opened.
func (k *Keeper) Watch(ctx context.Context, since Snapshot, load func(ctx context.Context, changed []string)) {
	watch(ctx, k.files, since.seen, load)
}

func watch(ctx context.Context, f *files, known stamps, load func(ctx context.Context, changed []string)) {
	var running sync.WaitGroup // of one load at most
	stop := func() {}          // cancels it
	defer func() { stop(); running.Wait() }()
	for last := known; !hook.Within(ctx.Done(), watchEvery); {
		now, changed := f.look(ownFile, known)
		settled := maps.Equal(now, last)
		if last = now; !settled || len(changed) == 0 {
			continue
		}
		known = now
		stop()
		running.Wait() // a canceled load returns at once
		one, cancel := context.WithCancel(ctx)
		stop = cancel
		running.Go(func() { load(one, changed) })
	}
}
