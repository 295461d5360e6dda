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

// maxFile bounds what is read of a file: no manifest and no script is as long.
const maxFile = 16 << 20

// candidate is one manifest that was found.
type candidate struct {
	Manifest
	// values are what is written, for telling whether two say the same.
	values map[string]any
	// entry is absolute, empty when none is named.
	entry string
	// python tells that the entry is run by Python whatever its name.
	python bool
	// entryAt is the error that the entry's key gets when the file is missing.
	entryAt *Error
}

// beside is what the files of one directory say.
type beside struct {
	candidates []candidate // pyplug.toml, pyproject.toml
	plugin     *candidate  // plugin.json
	requires   []Requirement
}

// readBeside reads the manifests of a directory.
func readBeside(dir string) (beside, error) {
	var found beside
	for _, read := range []func(string, *beside) error{readTOML, readPyproject, readPluginJSON} {
		if err := read(dir, &found); err != nil {
			return beside{}, err
		}
	}
	return found, nil
}

// read gives the text of a file; ok is false when there is none of that name.
func read(path string) (text string, ok bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", false, nil
		}
		return "", false, unreadable(path, err)
	}
	// A pipe or a device of that name would block or never end.
	if !info.Mode().IsRegular() {
		return "", false, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return "", false, unreadable(path, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return "", false, unreadable(path, err)
	}
	if len(data) > maxFile {
		return "", false, &Error{Reason: Unreadable, File: path, Seen: "longer than 16 MB, want a smaller file"}
	}
	return strings.TrimPrefix(string(data), "\ufeff"), true, nil
}

func readTOML(dir string, found *beside) error {
	doc := document{file: filepath.Join(dir, "pyplug.toml")}
	text, ok, err := read(doc.file)
	if err != nil || !ok {
		return err
	}
	doc.text = text
	values, err := doc.decode()
	if err != nil {
		return err
	}
	return found.add(doc, TOML, values)
}

func readPyproject(dir string, found *beside) error {
	doc := document{file: filepath.Join(dir, "pyproject.toml")}
	text, ok, err := read(doc.file)
	if err != nil || !ok {
		return err
	}
	doc.text = text
	root, err := doc.decode()
	if err != nil {
		return err
	}
	if project, ok := root["project"].(map[string]any); ok {
		if err := doc.require(project, &found.requires, "project"); err != nil {
			return err
		}
	}
	values, ok, err := doc.tool(root)
	if err != nil || !ok {
		return err
	}
	return found.add(doc, Pyproject, values, "tool", "pyplug")
}

// tool gives [tool.pyplug].
func (d document) tool(root map[string]any) (map[string]any, bool, error) {
	tool, _ := root["tool"].(map[string]any)
	value, ok := tool["pyplug"]
	if !ok {
		return nil, false, nil
	}
	values, ok := value.(map[string]any)
	if !ok {
		return nil, false, d.problem(&problem{path: []string{"tool", "pyplug"}, seen: show(value), wanted: "a table"}, nil)
	}
	return values, true, nil
}

// require reads requires-python of a table that is not ours, which may be empty.
func (d document) require(values map[string]any, to *[]Requirement, prefix ...string) error {
	value, ok := values["requires-python"]
	if !ok {
		return nil
	}
	spec, ok := value.(string)
	p := checkSpecifiers(spec)
	if !ok {
		p = &problem{seen: show(value), wanted: "a string", suggest: quoted(value)}
	}
	if p != nil {
		p.path = append(prefix, "requires-python")
		return d.problem(p, nil)
	}
	*to = append(*to, Requirement{Spec: spec, From: short(d.file)})
	return nil
}

// add keeps a manifest that was decoded.
func (b *beside) add(doc document, form Form, values map[string]any, prefix ...string) error {
	c, err := doc.candidate(form, values, prefix...)
	if err == nil {
		b.candidates = append(b.candidates, c)
	}
	return err
}

// candidate makes a manifest's paths absolute.
func (d document) candidate(form Form, values map[string]any, prefix ...string) (candidate, error) {
	m, err := d.manifest(form, values, prefix...)
	if err != nil {
		return candidate{}, err
	}
	c := candidate{Manifest: m, values: values}
	if m.Entry != "" {
		c.entry = from(m.Dir, m.Entry)
		c.entryAt = d.problem(&problem{path: []string{"entry"}, seen: fmt.Sprintf("%q", m.Entry),
			wanted: "a file or package that exists", suggest: near(c.entry)}, prefix)
	}
	if m.Cwd != "" {
		c.Cwd = from(m.Dir, m.Cwd)
		if info, err := os.Stat(c.Cwd); err != nil || !info.IsDir() {
			return candidate{}, d.problem(&problem{path: []string{"cwd"}, seen: fmt.Sprintf("%q", m.Cwd),
				wanted: "a directory that exists"}, prefix)
		}
	}
	return c, nil
}

// from makes path absolute from dir.
func from(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// readScript reads the metadata block of a .py file. The candidate is nil when
// the block has no [tool.pyplug], or there is none.
func readScript(path string) (*candidate, []Requirement, error) {
	source, ok, err := read(path)
	if err != nil || !ok || !strings.Contains(source, "# /// script") {
		return nil, nil, err
	}
	text, err := pysrc.Decode([]byte(source))
	if err != nil {
		var encoding *pysrc.EncodingError
		errors.As(err, &encoding)
		return nil, nil, &Error{Reason: Syntax, File: path, Line: encoding.Line, Err: err,
			Seen: "its script block cannot be read as " + encoding.Encoding}
	}
	block, err := pysrc.Script(text)
	if err != nil {
		var twice *pysrc.TwoBlocksError
		errors.As(err, &twice)
		return nil, nil, &Error{Reason: Syntax, File: path, Line: twice.Second, Err: err,
			Seen: fmt.Sprintf("a second script block, the first is on line %d, want one", twice.First)}
	}
	if block.Line == 0 {
		return nil, nil, nil
	}
	doc := document{file: path, text: block.Text, above: block.Line - 1, sign: "# "}
	root, err := doc.decode()
	if err != nil {
		return nil, nil, err
	}
	var requires []Requirement
	if err := doc.require(root, &requires); err != nil {
		return nil, nil, err
	}
	values, ok, err := doc.tool(root)
	if err != nil || !ok {
		return nil, requires, err
	}
	c, err := doc.candidate(Script, values, "tool", "pyplug")
	if err != nil {
		return nil, nil, err
	}
	if c.entry != "" && !same(c.entry, path) {
		c.entryAt.Wanted = fmt.Sprintf("%q, the script itself, or no entry", filepath.Base(path))
		return nil, nil, c.entryAt
	}
	c.entry = path
	return &c, requires, nil
}

// same tells whether two paths are one file.
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

// agree tells whether every key of second is in first with the same value. Of a
// plugin.json only the entry is compared: it is written for another program,
// whose names and versions need not be those for pyplug.
func agree(first, second candidate) error {
	if second.Form == PluginJSON {
		if first.entry == "" || same(first.entry, second.entry) {
			return nil
		}
		return &Error{Reason: Conflict, File: first.File, Other: second.File, Key: "entry",
			Seen: fmt.Sprintf("%q", first.Entry), Wanted: fmt.Sprintf("%q", second.Entry)}
	}
	for _, key := range slices.Sorted(maps.Keys(second.values)) {
		a, ok := first.values[key]
		if ok && reflect.DeepEqual(a, second.values[key]) {
			continue
		}
		if key == "entry" && first.entry != "" && same(first.entry, second.entry) {
			continue
		}
		seen := "absent"
		if ok {
			seen = show(a)
		}
		return &Error{Reason: Conflict, File: first.File, Other: second.File, Key: key, Seen: seen, Wanted: show(second.values[key])}
	}
	return nil
}
