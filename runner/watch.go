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

// Digest returns a digest of the known files of the plugin and of its manifest. If ctx ends, the
// error is of kind Canceled.
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

// Reload replaces the workers with workers that load the current files, and returns a snapshot of
// the files. The errors are the same as those of [pool.Pool.Restart]. After an error the old
// workers stay.
func (k *Keeper) Reload(ctx context.Context, reason string) (Snapshot, error) {
	now, err := k.Snapshot(ctx)
	if err == nil {
		err = k.Pool.Restart(ctx, reason)
	}
	return now, err
}

// watchEvery is the interval at which [Keeper.Watch] examines the files.
const watchEvery = 250 * time.Millisecond

// Watch calls load with the changed files whenever the plugin's own files change, until ctx ends.
// The first call reports the changes since the snapshot, and each later one those since the last
// reported change. Editors write in steps, so Watch reports a change when two looks, a quarter of a
// second apart, find the same files. A change while load runs cancels the context of load. The next
// call begins after load returns.
//
// Watch ignores the manifest and the interpreter, because they are read only when the plugin is
// opened.
func (k *Keeper) Watch(ctx context.Context, since Snapshot, load func(ctx context.Context, changed []string)) {
	watch(ctx, k.files, since.seen, load)
}

func watch(ctx context.Context, f *files, known stamps, load func(ctx context.Context, changed []string)) {
	var running sync.WaitGroup // at most one load
	stop := func() {}          // cancels the running load
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
