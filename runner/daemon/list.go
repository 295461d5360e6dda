package daemon

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

// Entry is one live daemon.
type Entry struct {
	Name string
	// Identity is the zero value if it cannot be read.
	Identity Identity
}

// List lists the live daemons by name. It removes what a dead daemon left, except its
// log. The error is that of a directory that cannot be used, and comes with the
// daemons of the others.
func List(ctx context.Context) ([]Entry, error) {
	if !supported {
		return nil, unavailable(errWindows)
	}
	var entries []Entry
	var first error
	for _, dir := range RunDirs() {
		names, err := namesIn(dir)
		if err != nil && first == nil {
			first = refused(err)
		}
		for _, name := range names {
			if ctx.Err() != nil {
				return entries, hook.Ended(ctx, "", "no list", time.Now(), false)
			}
			socket, _ := socketPath(dir, name)
			p := place{dir, name, socket}
			if p.clean() {
				continue
			}
			id, _ := p.readState()
			entries = append(entries, Entry{Name: name, Identity: id})
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, first
}
