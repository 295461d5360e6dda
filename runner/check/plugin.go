package check

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
)

// plugin finds the plugin and decides its transport.
func (c *check) plugin(ctx context.Context) hook.Stage {
	began := time.Now()
	s, err := c.open(ctx)
	c.s, c.searched = s, time.Since(began)-s.Resolved()
	if c.o.Prepared != nil {
		if refused := c.o.Prepared(s.Opened); err == nil {
			err = refused
		}
	}
	c.report.Transport = s.Settings().Transport
	c.report.Entry = s.Plugin().Entry
	if scripts, _, _ := s.Source(); len(scripts) > 0 {
		c.report.Entry = scripts[len(scripts)-1]
	}
	st := hook.Stage{Took: s.Resolved(), Details: pluginDetails(s)}
	if err != nil && asError(err).Kind == hook.Interpreter {
		c.noPython = asError(err) // which the stage interpreter reports
		err = nil
	}
	if err != nil {
		st.Findings = c.fail(pluginInvalid, err)
		return st
	}
	p, set := s.Plugin(), s.Settings()
	st.Message = "a functions file"
	switch {
	case set.Transport == "":
		st.Message = "a " + p.Kind.String() + ", whose transport depends on what its Python can import"
	case set.Transport == "grpc":
		st.Message = "a gRPC plugin"
	case p.Kind == manifest.Package:
		st.Message = "a package of functions"
	}
	switch {
	case set.Why == "":
	case set.Why == p.Manifest.File:
		st.Message += ": " + filepath.Base(set.Why) + " says so"
	default:
		st.Message += ": " + set.Why
	}
	if file := p.Manifest.File; file != "" && set.Why != file {
		st.Message += "; its manifest is " + filepath.Base(file)
	}
	return st
}

func pluginDetails(s *process) map[string]any {
	p, set := s.Plugin(), s.Settings()
	d := details{}
	d.add("id", p.ID)
	d.add("entry", p.Entry)
	d.add("manifest", p.Manifest.File)
	d.add("transport", set.Transport)
	d.add("why", set.Why)
	return d
}

// interpreter reports which Python runs the plugin.
func (c *check) interpreter(ctx context.Context) hook.Stage {
	if c.noPython != nil {
		return hook.Stage{Findings: c.fail(pythonMissing, c.noPython), Took: c.searched}
	}
	py, p := c.s.Interpreter(), c.s.Plugin()
	if p.Kind == manifest.Executable {
		st := hook.Stage{Message: "it is an executable and chooses its interpreter itself"}
		if p.Shebang != "" {
			st.Message += ": " + p.Shebang
		}
		return st
	}
	st := hook.Stage{Message: "python " + py.Version.String() + ", " + py.Path + " (" + string(py.Source) + ")", Details: pythonDetails(py, p), Took: c.searched}
	if len(p.Requires) > 0 {
		var all []string
		for _, r := range p.Requires {
			all = append(all, r.Spec+" of "+r.From)
		}
		st.Message += ", which satisfies " + joined(all)
	}
	for _, skipped := range py.Skipped {
		st.Findings = append(st.Findings, found(pythonSkipped, hook.Note, skipped.String()+"; using "+py.Path))
	}
	if f := c.hostPython(ctx); f != nil {
		st.Findings = append(st.Findings, *f)
	}
	return st
}

func pythonDetails(py interp.Interpreter, p manifest.Plugin) map[string]any {
	d := details{}
	d.add("path", py.Path)
	d.add("version", py.Version.String())
	d.add("source", string(py.Source))
	d.add("env", py.Env)
	d.add("implementation", py.Implementation)
	var requires []string
	for _, r := range p.Requires {
		requires = append(requires, fmt.Sprintf("%s (%s)", r.Spec, r.From))
	}
	if len(requires) > 0 {
		d["requires"] = requires
	}
	return d
}

// hostPython compares the Python with the one that the plugin's own host would choose,
// if that is known: a plugin.json belongs to one host.
func (c *check) hostPython(ctx context.Context) *hook.Finding {
	if c.s.Plugin().Manifest.Form != manifest.PluginJSON || c.o.Config.Python == "" {
		return nil
	}
	s, err := c.openForHost(ctx)
	if err != nil {
		f := found(pythonDiffers, hook.Note, "the host of this plugin would find no Python: "+err.Error())
		return &f
	}
	theirs, ours := s.Interpreter(), c.s.Interpreter()
	if theirs.Path == ours.Path || theirs.Env != "" && theirs.Env == ours.Env {
		return nil
	}
	f := found(pythonDiffers, hook.Note, "the host of this plugin would choose "+s.Interpreter().String(), "omit --python to check with that one")
	return &f
}
