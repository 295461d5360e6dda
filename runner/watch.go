package runner

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	// watchEvery is how often [Opened.Watch] looks at the files.
	watchEvery = 500 * time.Millisecond
	// watchSettle is how long nothing may change before a change counts: editors write
	// in steps, and replace files.
	watchSettle = 150 * time.Millisecond
	// watchMost bounds the wait for that.
	watchMost = 5 * time.Second
)

// Watch calls restart whenever the plugin's own files are not as they were in since,
// then not as they were at the last change, until ctx ends. It looks every half second,
// and waits until the files have not changed for 150 ms. It then calls report with what
// changed and with restart's error. A change during a restart cancels that restart,
// which is not reported, and begins another. Report is never called by two goroutines
// at once.
//
// The manifest and the interpreter are not watched: they are read when the plugin is
// opened.
func (o *Opened) Watch(ctx context.Context, since Snapshot, restart func(ctx context.Context, reason string) error, report func(changed []string, err error)) {
	watch(ctx, o.files, since.seen, restart, report)
}

func watch(ctx context.Context, f *files, known stamps, restart func(ctx context.Context, reason string) error, report func(changed []string, err error)) {
	var running sync.WaitGroup // of one restart at most
	stop := func() {}          // cancels it
	defer func() { stop(); running.Wait() }()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if _, changed := f.look(ownFile, known); len(changed) == 0 {
			continue
		}
		settle(ctx, f)
		var changed []string
		if known, changed = f.look(ownFile, known); len(changed) == 0 || ctx.Err() != nil { // a file was replaced and put back
			continue
		}
		stop()
		running.Wait() // a canceled restart returns at once
		one, cancel := context.WithCancel(ctx)
		stop = cancel
		running.Go(func() {
			if err := restart(one, changeOf(changed)); one.Err() == nil {
				report(changed, err)
			}
		})
	}
}

// settle waits until nothing changes, or ctx ends.
func settle(ctx context.Context, f *files) {
	now, _ := f.look(ownFile, nil)
	for end := time.Now().Add(watchMost); time.Now().Before(end); {
		select {
		case <-time.After(watchSettle):
		case <-ctx.Done():
			return
		}
		var changed []string
		if now, changed = f.look(ownFile, now); len(changed) == 0 {
			return
		}
	}
}

// changeOf describes a change as the reason of a restart.
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
