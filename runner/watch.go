package runner

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// watchEvery is how often the files of a watched plugin are looked at.
	watchEvery = 500 * time.Millisecond
	// watchSettle is how long nothing may change until a change counts: editors
	// write in steps, and replace files by others.
	watchSettle = 150 * time.Millisecond
	// watchMost is how long that is waited for.
	watchMost = 5 * time.Second
)

// Watch calls restart whenever the plugin's files change, until ctx ends, and report
// with what changed and with restart's error. It looks every half second, and waits
// until the files have been at rest for 150 ms; a file that does not exist for so long
// has changed, too. What was changed since the plugin was started is a change. A change
// that comes while restart runs ends that restart, and begins another: it is reported
// alone. Report is never called by two goroutines at once, and should not wait.
//
// The manifest is read at the start alone, as are the flags.
func (o *Opened) Watch(ctx context.Context, started time.Time, restart func(ctx context.Context, reason string) error, report func(changed []string, err error)) {
	w := watcher{files: func() []string { return o.Files(ctx) }, stat: stampOf, since: started}
	restarts{restart: restart, watch: w.run}.run(ctx, report)
}

// watcher watches files.
type watcher struct {
	files func() []string // those to watch, found anew
	stat  func(path string) fileStamp
	// since is when the plugin was started, which was not watched; zero when it was
	// not.
	since time.Time
}

// watched is what a watcher saw at one time. The directories are those of the files:
// they tell that there is a new file, which may be one that an import now finds.
type watched struct{ files, dirs fileStamps }

// see looks for the files, and at them.
func (w watcher) see() watched {
	all := watched{fileStamps{}, fileStamps{}}
	for _, file := range w.files() {
		all.files[file] = w.stat(file)
		dir := filepath.Dir(file)
		all.dirs[dir] = w.stat(dir)
	}
	return all
}

// differs tells whether something is not as it was seen.
func (w watcher) differs(from watched) bool {
	for _, seen := range []fileStamps{from.files, from.dirs} {
		for path, before := range seen {
			if w.stat(path) != before {
				return true
			}
		}
	}
	return false
}

// first is what the plugin was started from. How a file was that changed since is not
// known: as if it had not been there.
func (w watcher) first() watched {
	seen := w.see()
	if w.since.IsZero() {
		return seen
	}
	for file, is := range seen.files {
		if is.modified > w.since.UnixNano() {
			seen.files[file] = fileStamp{}
		}
	}
	return seen
}

// run watches until ctx ends.
func (w watcher) run(ctx context.Context, tell func(files []string)) {
	known := w.first()
	for rest(ctx, watchEvery) {
		if !w.differs(known) {
			continue
		}
		now := w.settled(ctx)
		if ctx.Err() != nil {
			return
		}
		changed := w.changed(known, now)
		known = now
		if len(changed) > 0 {
			tell(changed)
		}
	}
}

// settled waits until nothing changes, and returns what there is then.
func (w watcher) settled(ctx context.Context) watched {
	end := time.Now().Add(watchMost)
	for {
		now := w.see()
		if !rest(ctx, watchSettle) || !w.differs(now) || time.Now().After(end) {
			return now
		}
	}
}

// changed lists what differs. A file that is there and only no longer imported has
// not changed; the one that imported it has.
func (w watcher) changed(before, now watched) []string {
	var changed []string
	for path, is := range now.files {
		if was, known := before.files[path]; !known || was != is {
			changed = append(changed, path)
		}
	}
	for path := range before.files {
		if _, still := now.files[path]; !still && w.stat(path) == (fileStamp{}) {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}

// rest waits for d, and tells whether ctx has not ended before.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
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
