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
	"github.com/pyplug/pyplug/runner/schema"
)

// source is one manifest that was found.
type source struct {
	Manifest
	document
	// entry is the absolute path of the entry, or "".
	entry    string
	entryKey []string
	// python reports that Python runs the entry, whatever its name.
	python bool
}

// entryError returns the error for an entry. more says what is wrong with it.
func (s source) entryError(more, wanted string) *Error {
	p := (&problem{is: "is " + show(s.Entry) + more + ", want " + wanted, hint: schema.DidYouMean(closest(s.entry))})
	return s.fault(p.within(s.entryKey...))
}

// missingEntry returns the error for an entry that does not exist.
func (s source) missingEntry(err error) *Error {
	e := s.entryError("", "a file or package that exists")
	e.Err = err
	return e
}

// found contains what files say about a plugin.
type found struct {
	sources  []source
	requires []interp.Requirement
}

// readDirectory reads pyplug.toml, pyproject.toml and plugin.json, in this order.
func readDirectory(dir string) (found, error) {
	var all found
	for _, form := range []Form{TOML, Pyproject, PluginJSON} {
		d, err := readDocument(dir, form)
		if err != nil {
			return found{}, err
		}
		if d.file == "" {
			continue
		}
		var f found
		if form == PluginJSON {
			f, err = d.readPluginJSON()
		} else {
			f, err = d.readTOML(form)
		}
		if err != nil {
			return found{}, err
		}
		all.sources = append(all.sources, f.sources...)
		all.requires = append(all.requires, f.requires...)
	}
	return all, nil
}

// readDocument reads the file of a form in a directory. It returns the zero document if there is
// none.
func readDocument(dir string, form Form) (document, error) {
	file := filepath.Join(dir, form.String())
	text, _, err := bounded.Read(file, pysrc.LargestManifest)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, bounded.ErrIrregular) {
		return document{}, nil
	}
	if err != nil {
		return document{}, unreadable(file, err)
	}
	return document{file: file, text: strings.TrimPrefix(string(text), "\ufeff")}, nil
}

// Requires returns the requirements of the pyproject.toml in each directory. It ignores files
// that are unreadable or invalid: the plugin is not in their directory, and other tools report
// them.
func Requires(dirs []string) (all []interp.Requirement) {
	for _, dir := range dirs {
		d, _ := readDocument(dir, Pyproject)
		d.locate = locateTOML
		root, _ := d.decode()
		requires, _ := d.readRequirement(Pyproject, root)
		all = append(all, requires...)
	}
	return all
}

// readTOML reads a manifest in TOML. It returns no source if the text has no table for pyplug.
func (d document) readTOML(form Form) (found, error) {
	d.locate = locateTOML
	root, err := d.decode()
	if err != nil {
		return found{}, err
	}
	var f found
	values := root
	if form != TOML {
		if f.requires, err = d.readRequirement(form, root); err != nil {
			return found{}, err
		}
		tool, _ := root["tool"].(map[string]any)
		value, ok := tool["pyplug"]
		if !ok {
			return f, nil
		}
		if values, ok = value.(map[string]any); !ok {
			return found{}, d.fault(wrong(value, "a table").within("tool", "pyplug"))
		}
		d.table = []string{"tool", "pyplug"}
	}
	s, err := d.source(form, values)
	f.sources = []source{s}
	return f, err
}

// readRequirement reads requires-python in [project] or at the top of a script block.
func (d document) readRequirement(form Form, root map[string]any) (all []interp.Requirement, err error) {
	path := []string{"requires-python"}
	if form == Pyproject {
		path = []string{"project", "requires-python"}
		root, _ = root["project"].(map[string]any)
	}
	value, ok := root["requires-python"]
	if !ok {
		return nil, nil
	}
	spec, p := text(value, `key:"requires-python" empty:"yes"`)
	if p != nil {
		return nil, d.fault(p.within(path...))
	}
	return []interp.Requirement{{Spec: spec, From: short(d.file)}}, nil
}

// source reads the keys and makes the paths among them absolute.
func (d document) source(form Form, values map[string]any) (source, error) {
	s := source{document: d, entryKey: []string{"entry"}}
	s.Manifest = Manifest{File: d.file, Form: form, Dir: filepath.Dir(d.file)}
	if p := decode(reflect.ValueOf(&s.Manifest).Elem(), "", values); p != nil {
		return source{}, d.fault(p)
	}
	s.startFor()
	if s.Entry != "" {
		s.entry = from(s.Dir, s.Entry)
	}
	if s.Cwd != "" {
		written := s.Cwd
		s.Cwd = from(s.Dir, written)
		if info, err := os.Stat(s.Cwd); err != nil || !info.IsDir() {
			return source{}, d.fault(wrong(written, "a directory that exists").within("cwd"))
		}
	}
	return s, nil
}

// from makes path absolute from dir.
func from(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// readScript reads the metadata block of a .py file, if it has one. It finds no
// source if the block has no [tool.pyplug].
func readScript(path string) (found, error) {
	code, _ := pysrc.Read(path, pysrc.LargestFile) // Python says why it cannot be read
	block, err := pysrc.Script(code)
	if err != nil {
		return found{}, &Error{File: path, Message: err.Error()}
	}
	if block.Line == 0 {
		return found{}, nil
	}
	f, err := document{file: path, text: block.Text, skipped: block.Line - 1, prefix: "# "}.readTOML(Script)
	if err != nil || len(f.sources) == 0 {
		return f, err
	}
	s := &f.sources[0]
	if s.entry != "" && !same(s.entry, path) {
		return found{}, s.entryError("", fmt.Sprintf("%q, the script itself, or no entry", filepath.Base(path)))
	}
	s.entry = path
	return f, nil
}
