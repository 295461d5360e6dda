package pool

import (
	"context"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// description is what one instance said of its hooks.
type description struct {
	by     *instance // nil: nobody
	schema schema.Schema
}

// Hooks describes the hooks. With a name it returns that one alone, with its template.
// It waits for a worker as a call does, unless it is known what a worker would say:
// then it does not matter that all are busy.
func (p *Pool) Hooks(ctx context.Context, name string) (schema.Schema, error) {
	d, err := p.describe(ctx)
	if err != nil || name == "" {
		return d.schema, err
	}
	if of, ok := d.by.Instance.(grpcInstance); ok {
		return of.DescribeHook(ctx, name)
	}
	var known []string
	for _, h := range d.schema.Hooks {
		if h.Name == name {
			h.Template = schema.Template(h)
			return schema.Schema{Hooks: []schema.Hook{h}}, nil
		}
		known = append(known, h.Name)
	}
	e := hook.NewError(hook.Request, &schema.NoHookError{Hook: name, Known: known})
	e.Hook = name
	return schema.Schema{}, e
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
	sch, err := g.Describe(ctx)
	if err != nil {
		return d, err
	}
	d = description{by: g, schema: sch}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.description = d
	return d, nil
}
