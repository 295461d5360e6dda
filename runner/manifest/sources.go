package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/pysrc"
)

// maxFile bounds how much of a file is read. No manifest or script is as long.
const maxFile = 16 << 20

// source is one manifest that was found.
type source struct {
	Manifest
	document
	// values are the keys as written, to compare manifests. plugin.json has none.
	values map[string]any
	// entry is the absolute path of the entry, empty if the manifest names none.
	entry    string
	entryKey []string
	// python means that Python runs the entry, whatever its name.
	python bool
}

// entryError reports an entry that does not exist, or is not what more says.
func (s source) entryError(more, wanted string) *Error {
	p := (&problem{is: "is " + show(s.Entry) + more + ", want " + wanted, hint: didYouMean(closest(s.entry))})
	return s.fault(p.within(s.entryKey...))
}

// missingEntry reports an entry that does not exist.
func (s source) missingEntry(err error) *Error {
	e := s.entryError("", "a file or package that exists")
	e.Err = err
	return e
}

// directory is what the manifests of one directory say.
type directory struct {
	sources  []source // in the order of their forms
	requires []Requirement
}

// readDirectory reads pyplug.toml, pyproject.toml and plugin.json.
func readDirectory(dir string) (directory, error) {
	var found directory
	for _, form := range []Form{TOML, Pyproject} {
		d := document{file: filepath.Join(dir, form.String()), locate: locateTOML}
		var ok bool
		var err error
		if d.text, ok, err = read(d.file); err != nil {
			return directory{}, err
		} else if !ok {
			continue
		}
		s, requires, err := d.read(form)
		if err != nil {
			return directory{}, err
		}
		found.add(s, requires)
	}
	s, err := readPluginJSON(dir)
	found.add(s, nil)
	return found, err
}

func (d *directory) add(s *source, requires []Requirement) {
	if s != nil {
		d.sources = append(d.sources, *s)
	}
	d.requires = append(d.requires, requires...)
}

// read returns the text of a file. ok is false if there is no such regular file: a
// pipe or a device could block or never end.
func read(path string) (text string, ok bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", false, nil
	}
	var file *os.File
	if err == nil {
		file, err = os.Open(path)
	}
	if err != nil {
		return "", false, unreadable(path, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return "", false, unreadable(path, err)
	case len(data) > maxFile:
		return "", false, &Error{File: path, Message: "longer than 16 MB, want a smaller file"}
	}
	return strings.TrimPrefix(string(data), "\ufeff"), true, nil
}

// read decodes TOML. The source is nil if the text has no table for pyplug.
func (d document) read(form Form) (*source, []Requirement, error) {
	root, err := d.decode()
	if err != nil {
		return nil, nil, err
	}
	var requires []Requirement
	values := root
	if form != TOML {
		requirement, err := d.readRequirement(form, root)
		if err != nil {
			return nil, nil, err
		}
		requires = requirement
		tool, _ := root["tool"].(map[string]any)
		value, ok := tool["pyplug"]
		if !ok {
			return nil, requires, nil
		}
		if values, ok = value.(map[string]any); !ok {
			return nil, nil, d.fault(wrong(value, "a table").within("tool", "pyplug"))
		}
		d.table = []string{"tool", "pyplug"}
	}
	s, err := d.source(form, values)
	return s, requires, err
}

// readRequirement reads requires-python where the standards have it: in [project],
// or on the top level of a script block.
func (d document) readRequirement(form Form, root map[string]any) ([]Requirement, error) {
	path := []string{"requires-python"}
	if form == Pyproject {
		path = []string{"project", "requires-python"}
		root, _ = root["project"].(map[string]any)
	}
	value, ok := root["requires-python"]
	if !ok {
		return nil, nil
	}
	spec, p := anyText(value)
	if p == nil {
		p = checkSpecifiers(spec)
	}
	if p != nil {
		return nil, d.fault(p.within(path...))
	}
	return []Requirement{{Spec: spec, From: short(d.file)}}, nil
}

// source reads the keys and makes the paths among them absolute.
func (d document) source(form Form, values map[string]any) (*source, error) {
	s := source{document: d, values: values, entryKey: []string{"entry"}}
	s.Manifest = Manifest{File: d.file, Form: form, Dir: filepath.Dir(d.file)}
	if p := s.keys().read(values); p != nil {
		return nil, d.fault(p)
	}
	if s.Entry != "" {
		s.entry = from(s.Dir, s.Entry)
	}
	if s.Cwd != "" {
		written := s.Cwd
		s.Cwd = from(s.Dir, written)
		if info, err := os.Stat(s.Cwd); err != nil || !info.IsDir() {
			return nil, d.fault(wrong(written, "a directory that exists").within("cwd"))
		}
	}
	return &s, nil
}

// from makes path absolute from dir.
func from(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// readScript reads the metadata block of a .py file. The source is nil if it has no
// block, or one without [tool.pyplug].
func readScript(path string) (*source, []Requirement, error) {
	code, ok, err := read(path)
	if err != nil || !ok || !strings.Contains(code, "# /// script") {
		return nil, nil, err
	}
	text, err := pysrc.Decode([]byte(code))
	if err != nil {
		var bad *pysrc.Error
		errors.As(err, &bad)
		return nil, nil, &Error{File: path, Line: bad.Line, Err: err, Message: "the script block " + bad.Reason}
	}
	block, err := pysrc.Script(text)
	if err != nil {
		var bad *pysrc.Error
		errors.As(err, &bad)
		return nil, nil, &Error{File: path, Line: bad.Line, Err: err, Message: bad.Reason}
	}
	if block.Line == 0 {
		return nil, nil, nil
	}
	d := document{file: path, text: block.Text, skipped: block.Line - 1, prefix: "# ", locate: locateTOML}
	s, requires, err := d.read(Script)
	if s == nil {
		return nil, requires, err
	}
	if s.entry != "" && !same(s.entry, path) {
		return nil, nil, s.entryError("", fmt.Sprintf("%q, the script itself, or no entry", filepath.Base(path)))
	}
	s.entry = path
	return s, requires, nil
}

// same reports whether two paths are one file.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// choose returns the first source in the order of forms, once the others agree.
func choose(sources []source) (source, error) {
	slices.SortStableFunc(sources, func(a, b source) int { return int(a.Form) - int(b.Form) })
	for _, other := range sources[1:] {
		if err := agree(sources[0], other); err != nil {
			return source{}, err
		}
	}
	return sources[0], nil
}

// agree checks that first has every key of second with the same value. Of a
// plugin.json it compares only the entry: it was written for another program, whose
// names and versions may differ.
func agree(first, second source) error {
	sameEntry := first.entry != "" && same(first.entry, second.entry)
	keys := slices.Sorted(maps.Keys(second.values))
	if second.Form == PluginJSON && first.entry != "" {
		keys = []string{"entry"}
	}
	for _, key := range keys {
		a, b := first.values[key], second.values[key]
		if second.Form == PluginJSON {
			b = second.Entry
		}
		if a != nil && reflect.DeepEqual(a, b) || key == "entry" && sameEntry {
			continue
		}
		seen := "absent"
		if a != nil {
			seen = show(a)
		}
		return &Error{Message: fmt.Sprintf("%s and %s disagree on %s: %s and %s", short(first.File), short(second.File), key, seen, show(b))}
	}
	return nil
}
