package runner

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
)

// WatchFiles restarts the workers whenever the plugin's files changed, see
// [Session.WatchFiles] and [Kept.Restart], until ctx ends; it returns when nobody is
// told any more. tell gets what changed and what came of it: when the new files do
// not start, the old workers stay, and err says why. A change that comes while new
// workers start makes them start anew, and is told alone. tell is never called by two
// goroutines at once, and should not wait.
//
// The manifest is read at the start alone, as are the flags: what changes there needs
// another start.
func (k *Kept) WatchFiles(ctx context.Context, tell func(changed []string, err error)) {
	restarts{restart: k.Restart, watch: k.session.WatchFiles}.run(ctx, tell)
}

// restarts makes a restart of each change.
type restarts struct {
	restart func(ctx context.Context, reason string) error
	watch   func(ctx context.Context, changed func(files []string))
}

// run watches until ctx ends.
func (r restarts) run(ctx context.Context, tell func(changed []string, err error)) {
	var running sync.WaitGroup // of one restart at most
	stop := context.CancelFunc(func() {})
	r.watch(ctx, func(files []string) {
		stop()
		running.Wait() // an ended context ends the waiting at once
		var one context.Context
		one, stop = context.WithCancel(ctx)
		running.Go(func() {
			if err := r.restart(one, changeOf(files)); one.Err() == nil {
				tell(files, err)
			}
		})
	})
	stop()
	running.Wait()
}

// changeOf says what changed, as the reason of a restart.
func changeOf(files []string) string {
	const most = 3
	var names []string
	for _, file := range files[:min(most, len(files))] {
		names = append(names, filepath.Base(file))
	}
	text := strings.Join(names, ", ")
	if len(files) > most {
		text += " and others"
	}
	return text + " changed"
}
