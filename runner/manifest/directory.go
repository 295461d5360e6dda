package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// resolveDir finds what a directory runs: what its manifest names, or the
// package that it is.
func resolveDir(dir string) (resolved, error) {
	found, err := readBeside(dir)
	if err != nil {
		return resolved{}, err
	}
	out := resolved{dir: dir, requires: found.requires}
	if len(found.candidates) == 0 && found.plugin == nil && hasInit(dir) {
		return out.asPackage(dir)
	}
	var script *candidate
	var fromScript []Requirement
	if len(found.candidates) == 0 {
		if script, fromScript, err = scriptOf(dir); err != nil {
			return resolved{}, err
		}
	} else if entry := found.candidates[0].entry; entry != "" && leadsToPython(entry) {
		if script, fromScript, err = readScript(entry); err != nil {
			return resolved{}, err
		}
	}
	out, err = out.choose(found.candidates, script, fromScript, found.plugin, "")
	switch {
	case err != nil:
		return resolved{}, err
	case out.chosen.Form == None:
		return resolved{}, noManifest(dir)
	case out.chosen.entry != "":
		out.entry = out.chosen.entry
		return out, nil
	case found.plugin != nil:
		out.entry = found.plugin.entry
		return out, nil
	}
	return out.obvious(dir)
}

// asPackage is a package directory without a manifest of its own. One beside it
// applies when it names the package.
func (r resolved) asPackage(dir string) (resolved, error) {
	script, fromScript, err := scriptOf(dir)
	if err != nil {
		return resolved{}, err
	}
	if script != nil {
		r.entry = script.entry
		return r.choose(nil, script, fromScript, nil, "")
	}
	r.entry = dir
	parent, err := readBeside(filepath.Dir(dir))
	if err != nil {
		return resolved{}, err
	}
	var about []candidate
	for _, c := range parent.candidates {
		if c.entry != "" && same(c.entry, dir) {
			about = append(about, c)
		}
	}
	if len(about) > 0 {
		r.requires = append(r.requires, parent.requires...)
	}
	return r.choose(about, nil, nil, nil, dir)
}

// obvious is the entry of a manifest that names none.
func (r resolved) obvious(dir string) (resolved, error) {
	scripts := pythonFiles(dir)
	switch {
	case hasInit(dir):
		r.entry = dir
		return r, nil
	case slices.Contains(scripts, "plugin.py"):
		r.entry = filepath.Join(dir, "plugin.py")
	case slices.Contains(scripts, "main.py"):
		r.entry = filepath.Join(dir, "main.py")
	case len(scripts) == 1:
		r.entry = filepath.Join(dir, scripts[0])
	default:
		e := &Error{Reason: NoEntry, File: r.chosen.File, Key: "entry", Near: scripts, Seen: "the directory has no .py file"}
		if len(scripts) > 0 {
			e.Seen = "the directory has " + strings.Join(scripts, ", ")
		}
		return resolved{}, e
	}
	script, fromScript, err := readScript(r.entry)
	if err != nil {
		return resolved{}, err
	}
	return r.choose([]candidate{r.chosen}, script, fromScript, nil, r.entry)
}

// scriptOf is the one script of a directory with a manifest in it.
func scriptOf(dir string) (*candidate, []Requirement, error) {
	var only *candidate
	var requires []Requirement
	var names []string
	for _, name := range pythonFiles(dir) {
		script, required, err := readScript(filepath.Join(dir, name))
		if err != nil {
			return nil, nil, err
		}
		if script != nil {
			only, requires = script, required
			names = append(names, name)
		}
	}
	if len(names) > 1 {
		return nil, nil, &Error{Reason: Ambiguous, File: dir, Near: names}
	}
	return only, requires, nil
}

// pythonFiles are the .py files of a directory, sorted.
func pythonFiles(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(dir, entry.Name()))
		if err == nil && info.Mode().IsRegular() && isPython(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names
}

func hasInit(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "__init__.py"))
	return err == nil && info.Mode().IsRegular()
}

// noManifest tells what was looked for.
func noManifest(dir string) *Error {
	looked := "no pyplug.toml, no pyproject.toml with [tool.pyplug], no script with [tool.pyplug], no plugin.json and no __init__.py"
	if _, err := os.Stat(filepath.Join(dir, "pyproject.toml")); err == nil {
		looked = strings.Replace(looked, "no pyproject.toml with [tool.pyplug]", "a pyproject.toml without [tool.pyplug]", 1)
	}
	if _, err := os.Stat(filepath.Join(dir, "plugin.json")); err == nil {
		looked = strings.Replace(looked, "no plugin.json", "a plugin.json without server", 1)
	}
	return &Error{Reason: NoManifest, File: dir, Wanted: looked, Near: pythonFiles(dir)}
}

// plugin makes the answer, after a look at what the entry is.
func (r resolved) plugin(typed string) (Plugin, error) {
	p := Plugin{Path: typed, Entry: r.entry, Dir: filepath.Dir(r.entry), Manifest: r.chosen.Manifest, Requires: r.requires}
	info, err := os.Stat(r.entry)
	switch {
	case err != nil && r.chosen.entryAt != nil:
		e := *r.chosen.entryAt
		e.Err = err
		return Plugin{}, &e
	case err != nil:
		return Plugin{}, missing(r.entry, err)
	case info.IsDir():
		if !hasInit(r.entry) {
			e := &Error{Reason: BadValue, File: r.entry, Key: "entry", Wanted: "a package"}
			if r.chosen.entryAt != nil {
				*e = *r.chosen.entryAt
			}
			e.Seen = fmt.Sprintf("%q, a directory without __init__.py", r.chosen.Entry)
			return Plugin{}, e
		}
		p.Kind = Package
	case info.Mode().IsRegular() && (r.chosen.python || leadsToPython(r.entry)):
		p.Kind = File
	default:
		if seen := unfit(r.entry, info); seen != "" {
			return Plugin{}, &Error{Reason: NotPlugin, File: r.entry, Seen: seen}
		}
		p.Kind, p.Shebang = Executable, shebang(r.entry)
	}
	if spec := r.chosen.RequiresPython; spec != "" {
		p.Requires = append([]Requirement{{Spec: spec, From: short(r.chosen.File)}}, p.Requires...)
	}
	p.ID = r.name(p)
	p.Dirs = r.dirs(p)
	return p, nil
}

// dirs are the directories in which the environment may be.
func (r resolved) dirs(p Plugin) []string {
	dirs := []string{p.Dir}
	if p.Kind == Package {
		dirs = []string{p.Entry, p.Dir}
	}
	if p.Manifest.Dir != "" {
		dirs = append(dirs, p.Manifest.Dir)
	}
	if real, err := filepath.EvalSymlinks(p.Entry); err == nil {
		dirs = append(dirs, filepath.Dir(real))
	}
	var out []string
	for _, dir := range dirs {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// name is the plugin's default name: the manifest's id, or the file's stem, or
// the directory's name where the stem says nothing.
func (r resolved) name(p Plugin) string {
	if id := slug(p.Manifest.ID); id != "" {
		return id
	}
	stem := strings.TrimSuffix(filepath.Base(p.Entry), filepath.Ext(p.Entry))
	if p.Kind == Package {
		stem = filepath.Base(p.Entry)
	}
	switch stem {
	case "plugin", "main", "__main__", "__init__":
		dir := r.dir
		if dir == "" {
			dir = p.Dir
		}
		stem = filepath.Base(dir)
	}
	if name := slug(stem); name != "" {
		return name
	}
	return "plugin"
}

// slug makes a name of a text: lower case, with a dash for whatever a name
// cannot have.
func slug(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			return c
		}
		return '-'
	}, strings.ToLower(s))
	words := strings.FieldsFunc(s, func(c rune) bool { return c == '-' })
	return strings.Join(words, "-")
}
