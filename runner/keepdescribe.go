package runner

import (
	"context"
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
}

// ofAny is what one of the instances said, and which.
func (d *described) ofAny(instances []hook.Instance) (schema.Schema, hook.Instance, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, inst := range instances {
		if inst == d.by {
			return d.schema, inst, true
		}
	}
	return schema.Schema{}, nil, false
}

func (d *described) set(by hook.Instance, sch schema.Schema) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.by, d.schema = by, sch
}

// describe is what a worker that is ready says of its hooks. Each is asked once: a
// worker that is busy answers when its call is over.
func (k *Kept) describe(ctx context.Context) (schema.Schema, hook.Instance, error) {
	if sch, by, ok := k.described.ofAny(k.ready()); ok {
		return sch, by, nil
	}
	l, err := k.pool.Lease(ctx)
	if err != nil {
		return schema.Schema{}, nil, err
	}
	defer l.Close()
	by := bare(l.Instance())
	sch, err := by.Describe(ctx)
	if err == nil {
		k.described.set(by, sch)
	}
	return sch, by, err
}

// Describe lists the hooks. It waits for a place as a call does, unless a worker that
// is ready has told them before. Nothing of the result is written to.
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
