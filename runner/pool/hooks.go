package pool

import (
	"context"

	"github.com/pyplug/pyplug/runner/schema"
)

// description is what one instance said of its hooks.
type description struct {
	by     *instance // nil: nobody
	schema schema.Schema
}

// Hooks lists the hooks. It waits for a worker as a call does, unless it is known what a
// worker would say: then it does not matter that all are busy. With a name it describes
// that hook in detail, and always waits for a worker.
func (p *Pool) Hooks(ctx context.Context, name string) (schema.Schema, error) {
	if name == "" {
		d, err := p.describe(ctx)
		return d.schema, err
	}
	g, herr := p.acquire(ctx, name, false)
	if herr != nil {
		return schema.Schema{}, herr
	}
	defer p.finishUncounted(g)
	return g.Describe(ctx, name)
}

func (p *Pool) describe(ctx context.Context) (description, error) {
	p.mu.Lock()
	d := p.description
	for _, w := range p.workers {
		if d.by != nil && w.serving != nil && w.serving.version == d.by.version {
			p.mu.Unlock()
			return d, nil
		}
	}
	p.mu.Unlock()
	g, herr := p.acquire(ctx, "", false)
	if herr != nil {
		return d, herr
	}
	defer p.finishUncounted(g)
	sch, err := g.Describe(ctx, "")
	if err != nil {
		return d, err
	}
	d = description{by: g, schema: sch}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.description = d
	return d, nil
}
