package check

import (
	"context"
	"path/filepath"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// plugin finds the plugin and decides its transport.
func (c *check) plugin(ctx context.Context) hook.Stage {
	began := time.Now()
	cfg := c.o.Config
	cfg.AnyHealth = true // the stage health reports an unhealthy plugin
	cfg.Output = c.watched(cfg.Output)
	s, err := open(ctx, cfg)
	c.s, c.searched = s, time.Since(began)-s.Took
	if c.o.Prepared != nil {
		c.o.Prepared(s.Keeper)
	}
	c.report.Transport = s.Config.Transport
	c.report.Entry = s.Plugin.Entry
	if scripts, _, _ := s.Source(); len(scripts) > 0 {
		c.report.Entry = scripts[len(scripts)-1]
	}
	p, set := s.Plugin, s.Config
	st := hook.Stage{Took: s.Took, Details: map[string]any{
		"id": p.ID, "entry": schema.Path(p.Entry), "manifest": schema.Path(p.Manifest.File),
		"transport": set.Transport, "why": s.Why,
	}}
	if err != nil && hook.AsError(err).Kind == hook.Interpreter {
		c.noPython = hook.AsError(err) // the stage interpreter reports the error
		err = nil
	}
	if err != nil {
		st.Findings = append(st.Findings, c.fail(pluginInvalid, err))
		return st
	}
	way := s.Transport()
	st.Message = way.What
	switch {
	case set.Transport == "":
		st.Message = "a " + p.Kind.String() + ", whose transport depends on what its Python can import"
	case !way.Serves && p.Kind == manifest.Package:
		st.Message = "a package of functions"
	}
	switch {
	case s.Why == "":
	case s.Why == p.Manifest.File:
		st.Message += " (set in " + filepath.Base(s.Why) + ")"
	default:
		st.Message += ": " + s.Why
	}
	if p.IsInSrc() {
		st.Message += ", from " + p.Src + ", which an installed project would be imported from"
	}
	if file := p.Manifest.File; file != "" && s.Why != file {
		st.Message += "; its manifest is " + filepath.Base(file)
	}
	return withVerdict(st)
}

// interpreter reports which Python runs the plugin.
func (c *check) interpreter(ctx context.Context) hook.Stage {
	if c.noPython != nil {
		return hook.Stage{Findings: []hook.Finding{c.fail(pythonMissing, c.noPython)}, Took: c.searched}
	}
	py, p := c.s.Interpreter(), c.s.Plugin
	if p.Kind == manifest.Executable {
		st := hook.Stage{Message: "an executable, which chooses its interpreter itself"}
		if p.Shebang != "" {
			st.Message += ": " + p.Shebang
		}
		return st
	}
	st := hook.Stage{Message: "python " + py.Version.String() + ", " + py.Path + " (" + string(py.Source) + ")", Took: c.searched, Details: map[string]any{
		"path": schema.Path(py.Path), "version": py.Version.String(), "source": string(py.Source), "env": schema.Path(py.Env),
		"implementation": py.Implementation,
	}}
	if len(p.Requires) > 0 {
		var all, shapes []string
		for _, r := range p.Requires {
			all, shapes = append(all, r.Spec+" of "+r.From), append(shapes, r.Text())
		}
		st.Message += ", which satisfies " + schema.Joined(all)
		st.Details["requires"] = shapes
	}
	for _, note := range c.s.PythonNotes() {
		st.Findings = append(st.Findings, found(pythonSkipped, hook.Note, note))
	}
	return st
}
