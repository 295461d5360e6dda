package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// found is the content of the files about a plugin.
type found struct {
	// entry is the absolute path of the file or program that runs.
	entry     string
	manifests []Manifest
	requires  []interp.Requirement
}

// readDirectory reads pyplug.toml, pyproject.toml and plugin.json, in this order.
func readDirectory(dir string) (f found, err error) {
	for _, form := range []Form{TOML, Pyproject, PluginJSON} {
		m, err := open(dir, form)
		switch {
		case err != nil || m.File == "":
		case form == PluginJSON:
			err = f.readJSON(m)
		default:
			err = f.readTOML(m)
		}
		if err != nil {
			return found{}, err
		}
	}
	return f, nil
}

// open reads the text of a manifest in a directory. File is empty if the manifest does not exist.
func open(dir string, form Form) (Manifest, error) {
	file := filepath.Join(dir, form.String())
	content, _, err := bounded.Read(file, pysrc.LargestManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, bounded.ErrIrregular):
		return Manifest{}, nil
	case err != nil:
		return Manifest{}, unreadable(file, err)
	}
	return Manifest{File: file, Form: form, Dir: dir, document: document{text: bounded.Text(content)}}, nil
}

// Requires returns the requirements of the pyproject.toml in each directory. It ignores files that
// are unreadable or invalid, because the plugin is not in their directory and other tools report
// them.
func Requires(dirs []string) (all []interp.Requirement) {
	for _, dir := range dirs {
		m, _ := open(dir, Pyproject)
		root, _ := m.parse()
		requires, _ := m.readRequirements(root)
		all = append(all, requires...)
	}
	return all
}

// readTOML adds a manifest in TOML if its text has a table for pyplug.
func (f *found) readTOML(m Manifest) error {
	values, err := m.parse()
	if err != nil {
		return err
	}
	if m.Form != TOML {
		requires, err := m.readRequirements(values)
		if err != nil {
			return err
		}
		f.requires = append(f.requires, requires...)
		tool, _ := values["tool"].(map[string]any)
		value, ok := tool["pyplug"]
		if !ok {
			return nil
		}
		if values, ok = value.(map[string]any); !ok {
			return m.fault(settings.Wrong(value, "a table").Within("tool", "pyplug"))
		}
		m.table = []string{"tool", "pyplug"}
	}
	if err := m.decode(values); err != nil {
		return err
	}
	f.manifests = append(f.manifests, m)
	return nil
}

// readRequirements reads requires-python in [project] or at the top of a script block, and the
// Python version in poetry's table.
func (m Manifest) readRequirements(root map[string]any) (all []interp.Requirement, err error) {
	path := []string{"requires-python"}
	if m.Form == Pyproject {
		path = []string{"project", "requires-python"}
	}
	if value := valueAt(root, path...); value != nil {
		spec, ok := value.(string)
		mistake := checkSpecifiers(spec)
		if !ok {
			mistake = settings.Wrong(value, "a string")
		}
		if mistake != nil {
			return nil, m.fault(mistake.Within(path...))
		}
		all = append(all, interp.Requirement{Spec: spec, From: short(m.File)})
	}
	path = []string{"tool", "poetry", "dependencies", "python"}
	value := valueAt(root, path...)
	if value == nil || m.Form != Pyproject {
		return all, nil
	}
	if table, ok := value.(map[string]any); ok {
		value = table["version"]
	}
	constraint, _ := value.(string)
	spec, ok := interp.PoetrySpec(constraint)
	if !ok {
		return nil, m.fault(settings.Wrong(value, `a version constraint of poetry such as "^3.11"`).Within(path...))
	}
	return append(all, interp.Requirement{Spec: spec, From: short(m.File) + " [tool.poetry]"}), nil
}

// checkSpecifiers returns the mistake in a specifier set, or nil. The text "" allows every version.
func checkSpecifiers(spec string) *settings.Mistake {
	clause := interp.BadClause(spec)
	if clause == "" {
		return nil
	}
	m := settings.Wrong(clause, `a version specifier such as ">=3.11"`)
	if isVersion := !strings.ContainsFunc(clause, func(c rune) bool { return c != '.' && (c < '0' || c > '9') }); isVersion {
		m.Hints = schema.DidYouMean(">=" + clause)
	}
	return m
}

// valueAt returns the value at a path of keys, or nil.
func valueAt(value any, keys ...string) any {
	for _, key := range keys {
		table, _ := value.(map[string]any)
		value = table[key]
	}
	return value
}

// decode reads the keys and makes the paths among them absolute.
func (m *Manifest) decode(values map[string]any) error {
	if mistake := settings.Decode(&m.Settings, values); mistake != nil {
		return m.fault(mistake)
	}
	if mistake := checkSpecifiers(m.RequiresPython); mistake != nil {
		return m.fault(mistake.Within("requires-python"))
	}
	m.entryKey = []string{"entry"}
	if m.Entry != "" {
		m.entry = from(m.Dir, m.Entry)
	}
	if m.WorkDir != "" {
		written := m.WorkDir
		m.WorkDir = from(m.Dir, written)
		if info, err := os.Stat(m.WorkDir); err != nil || !info.IsDir() {
			return m.fault(settings.Wrong(written, "a directory that exists").Within("cwd"))
		}
	}
	return nil
}

// from makes path absolute. A relative path starts at dir.
func from(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// readScript adds the metadata block of a .py file, if it has one.
func (f *found) readScript(path string) error {
	code, _ := pysrc.Read(path, pysrc.LargestFile) // Python reports a file that cannot be read
	block, err := pysrc.Script(code)
	if mistake := (*pysrc.BlockError)(nil); errors.As(err, &mistake) {
		return wrong(fmt.Sprintf("%s:%d: %s", short(path), mistake.Line, mistake.Message), schema.Hintf("%s", mistake.Fix))
	}
	var own found
	d := document{text: block.Text, skipped: block.Line - 1}
	if err := own.readTOML(Manifest{File: path, Form: Script, Dir: filepath.Dir(path), document: d}); err != nil {
		return err
	}
	for _, m := range own.manifests {
		if m.entry != "" && !same(m.entry, path) {
			return m.entryError("", fmt.Sprintf("%q, the script itself, or no entry", filepath.Base(path)))
		}
	}
	f.manifests, f.requires = append(f.manifests, own.manifests...), append(own.requires, f.requires...)
	return nil
}
