package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/interp/pysrc"
)

// found is what files say about a plugin.
type found struct {
	// entry is the absolute path of what runs.
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

// open reads the text of a manifest in a directory. File is empty if there is none.
func open(dir string, form Form) (Manifest, error) {
	file := filepath.Join(dir, form.String())
	text, _, err := bounded.Read(file, pysrc.LargestManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, bounded.ErrIrregular):
		return Manifest{}, nil
	case err != nil:
		return Manifest{}, unreadable(file, err)
	}
	d := document{text: strings.TrimPrefix(string(text), "\ufeff")}
	return Manifest{File: file, Form: form, Dir: dir, document: d}, nil
}

// Requires returns the requirements of the pyproject.toml in each directory. It ignores files
// that are unreadable or invalid: the plugin is not in their directory, and other tools report
// them.
func Requires(dirs []string) (all []interp.Requirement) {
	for _, dir := range dirs {
		m, _ := open(dir, Pyproject)
		root, _ := m.parse()
		requires, _ := m.readRequirement(root)
		all = append(all, requires...)
	}
	return all
}

// readTOML adds a manifest in TOML, if its text has a table for pyplug.
func (f *found) readTOML(m Manifest) error {
	values, err := m.parse()
	if err != nil {
		return err
	}
	if m.Form != TOML {
		requires, err := m.readRequirement(values)
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
			return m.fault(wrong(value, "a table").within("tool", "pyplug"))
		}
		m.table = []string{"tool", "pyplug"}
	}
	if err := m.decode(values); err != nil {
		return err
	}
	f.manifests = append(f.manifests, m)
	return nil
}

// readRequirement reads requires-python in [project] or at the top of a script block.
func (m Manifest) readRequirement(root map[string]any) (all []interp.Requirement, err error) {
	path := []string{"requires-python"}
	if m.Form == Pyproject {
		path = []string{"project", "requires-python"}
		root, _ = root["project"].(map[string]any)
	}
	value, ok := root["requires-python"]
	if !ok {
		return nil, nil
	}
	spec, p := text(value, `key:"requires-python" empty:"yes"`)
	if p != nil {
		return nil, m.fault(p.within(path...))
	}
	return []interp.Requirement{{Spec: spec, From: short(m.File)}}, nil
}

// decode reads the keys and makes the paths among them absolute.
func (m *Manifest) decode(values map[string]any) error {
	if p := decode(reflect.ValueOf(m).Elem(), "", values); p != nil {
		return m.fault(p)
	}
	m.startFor()
	m.entryKey = []string{"entry"}
	if m.Entry != "" {
		m.entry = from(m.Dir, m.Entry)
	}
	if m.Cwd != "" {
		written := m.Cwd
		m.Cwd = from(m.Dir, written)
		if info, err := os.Stat(m.Cwd); err != nil || !info.IsDir() {
			return m.fault(wrong(written, "a directory that exists").within("cwd"))
		}
	}
	return nil
}

// from makes path absolute from dir.
func from(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// readScript adds the metadata block of a .py file, if it has one.
func (f *found) readScript(path string) error {
	code, _ := pysrc.Read(path, pysrc.LargestFile) // Python says why it cannot be read
	block, err := pysrc.Script(code)
	if err != nil {
		return &Error{Place: short(path), Message: err.Error()}
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
