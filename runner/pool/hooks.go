package pool

import (
	"context"

	"github.com/pyplug/pyplug/runner/schema"
)

// description is what instances of one version said of their hooks: of one by its name, of
// all by "".
type description struct {
	by    *instance // nil: nobody
	hooks map[string]schema.Schema
}

// Hooks lists the hooks; with a name it describes that one in detail. It waits for a worker
// as a call does, unless it is known what a worker would say: then it does not matter that
// all are busy.
func (p *Pool) Hooks(ctx context.Context, name string) (schema.Schema, error) {
	if sch, ok := p.described(name); ok {
		return sch, nil
	}
	g, herr := p.acquire(ctx, name, false)
	if herr != nil {
		return schema.Schema{}, herr
	}
	defer p.finishUncounted(g)
	sch, err := g.Describe(ctx, name)
	if err != nil {
		return sch, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.description; d.by == nil || d.by.version != g.version {
		p.description = description{by: g, hooks: map[string]schema.Schema{}}
	}
	p.description.hooks[name] = sch
	return sch, nil
}

// described is what is known of a hook, or of all.
func (p *Pool) described(name string) (sch schema.Schema, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		if d := p.description; d.by != nil && w.serving != nil && w.serving.version == d.by.version {
			sch, ok = d.hooks[name]
			return sch, ok
		}
	}
	return sch, false
}
