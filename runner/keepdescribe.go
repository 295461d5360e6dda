package runner

import (
	"context"
	"slices"
	"sync"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// described remembers what one worker said of its hooks. The zero value remembers
// nothing. It is safe for concurrent use.
type described struct {
	mu     sync.Mutex
	by     hook.Instance // nil: nobody
	schema schema.Schema
	files  *Snapshot // what by was started from; nil where that is not certain
}

// get is what was said, and by which instance, if that holds: it is one of those, or
// the files that it was started from did not change, so that others say the same.
func (d *described) get(instances []hook.Instance) (schema.Schema, hook.Instance, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(instances, d.by) || d.files != nil && len(d.files.Changed()) == 0 {
		return d.schema, d.by, true
	}
	return schema.Schema{}, nil, false
}

// set remembers what an instance said, and what it was started from, if that is known.
func (d *described) set(by hook.Instance, sch schema.Schema, files *Snapshot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.by, d.schema, d.files = by, sch, files
}

// forget has what is described next come from a worker.
func (d *described) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.by, d.files = nil, nil
}

// describe is what the workers say of their hooks. One that is busy answers when its
// call is over, so none is asked what is known already.
func (k *Kept) describe(ctx context.Context) (schema.Schema, hook.Instance, error) {
	if sch, by, ok := k.described.get(k.ready()); ok && !k.resting() {
		return sch, by, nil
	}
	l, err := k.pool.Lease(ctx)
	if err != nil {
		return schema.Schema{}, nil, err
	}
	defer l.Close()
	by := bare(l.Instance())
	files := k.startedFrom(by)
	sch, err := by.Describe(ctx)
	if err == nil {
		k.described.set(by, sch, files)
	}
	return sch, by, err
}

// resting tells whether no worker is there, and none is started by itself.
func (k *Kept) resting() bool {
	for _, sup := range k.slots { // they no longer change
		if st := sup.State().State; st != hook.StateFailed && st != hook.StateStopped {
			return false
		}
	}
	return true
}

// startedFrom is how the files are, if they did not change since the instance has
// read them; else nil.
func (k *Kept) startedFrom(inst hook.Instance) *Snapshot {
	now := Snapshot{look(k.session.subjects())}
	if now.since(inst.Info().Started) || k.starter.outdated() {
		return nil
	}
	return &now
}

// Describe lists the hooks. It waits for a place as a call does, unless a worker that
// is ready has told them before, or any worker of the same files: what the plugin did
// to end, or what runs in it, is not waited for. Nothing of the result is written to.
func (k *Kept) Describe(ctx context.Context) (schema.Schema, error) {
	sch, _, err := k.describe(ctx)
	return sch, err
}

// Template is an empty request of a hook as JSON, to be filled in. It waits as
// Describe does.
func (k *Kept) Template(ctx context.Context, name string) ([]byte, error) {
	sch, by, err := k.describe(ctx)
	if err != nil {
		return nil, err
	}
	if g, ok := by.(*grpcplugin.Instance); ok {
		return g.Template(ctx, name)
	}
	return templateOf(sch, name)
}
