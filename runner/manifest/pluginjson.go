package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
)

// pluginJSON is the part of a plugin.json that pyplug uses: the manifest of
// Mattermost's server, with the keys that its Python runtime adds.
type pluginJSON struct {
	ID     string `json:"id"`
	Server *struct {
		Runtime       string            `json:"runtime"`
		PythonVersion string            `json:"python_version"`
		Executable    string            `json:"executable"`
		Executables   map[string]string `json:"executables"`
		Python        struct {
			EntryPoint string `json:"entry_point"`
		} `json:"python"`
	} `json:"server"`
	Props any `json:"props"`
}

// readPluginJSON reads a plugin.json. One without server belongs to another program, so it gives
// no source.
func (d document) readPluginJSON() (found, error) {
	d.locate = locateJSON
	var p pluginJSON
	if err := json.Unmarshal([]byte(d.text), &p); err != nil {
		return found{}, d.decodeError(err)
	}
	if p.Server == nil {
		return found{}, nil
	}
	s, err := p.source(d)
	return found{sources: []source{s}}, err
}

// decodeError adds the place to an error of encoding/json.
func (d document) decodeError(err error) *Error {
	at := position{}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = positionOf(d.text, syntax.Offset-1) // Offset is after the wrong byte
	} else if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(err, &mismatch) {
		at = positionOf(d.text, mismatch.Offset-1)
		want := "an object"
		if mismatch.Type.Kind() == reflect.String {
			want = "a string"
		}
		err = fmt.Errorf("%s is of type %s, want %s", cmp.Or(mismatch.Field, "the document"), mismatch.Value, want)
	}
	e := d.errorAt(at)
	e.Message, e.Err = err.Error(), err
	return e
}

// source returns the source with an absolute entry and a checked version.
func (p pluginJSON) source(d document) (source, error) {
	entry, key := p.entry()
	if entry == "" {
		return source{}, d.fault(&problem{path: key, is: "is missing, want the file to run"})
	}
	dir := filepath.Dir(d.file)
	if !inside(dir, entry) {
		return source{}, d.fault(wrong(entry, "a path inside the plugin's directory").within(key...))
	}
	props, _ := p.Props.(map[string]any)
	s := source{
		Manifest: Manifest{
			File: d.file, Form: PluginJSON, Dir: dir, ID: p.ID, Entry: entry, Transport: "grpc",
			Host: "mattermost",
			Env:  map[string]string{"MATTERMOST_PLUGIN_ID": p.ID, "MATTERMOST_PLUGIN_PATH": dir},
			Cwd:  dir, ErrorField: "error",
		},
		document: d, entryKey: key, entry: from(dir, entry),
		python: p.Server.Runtime == "python" || props["runtime"] == "python" || strings.HasSuffix(entry, ".py"),
	}
	s.startFor()
	if version := strings.TrimSpace(p.Server.PythonVersion); s.python && version != "" {
		if version[0] >= '0' && version[0] <= '9' {
			version = ">=" + version // Mattermost's "3.11" is a minimum
		}
		if bad := checkSpecifiers(version); bad != nil {
			return source{}, d.fault(wrong(p.Server.PythonVersion, `a version such as "3.11"`).within("server", "python_version"))
		}
		s.RequiresPython = version
	}
	return s, nil
}

// entry returns the file to run and the key that names it.
func (p pluginJSON) entry() (entry string, key []string) {
	platform := runtime.GOOS + "-" + runtime.GOARCH
	switch {
	case p.Server.Python.EntryPoint != "":
		return p.Server.Python.EntryPoint, []string{"server", "python", "entry_point"}
	case p.Server.Executables[platform] != "":
		return p.Server.Executables[platform], []string{"server", "executables", platform}
	}
	return p.Server.Executable, []string{"server", "executable"}
}

// inside reports whether an entry stays in dir, even if it contains ".." or is a link.
func inside(dir, entry string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	_, err = root.Stat(filepath.FromSlash(entry))
	return err == nil || errors.Is(err, os.ErrNotExist)
}

// positionOf converts an offset in bytes.
func positionOf(text string, offset int64) position {
	before := text[:min(max(offset, 0), int64(len(text)))]
	return position{line: 1 + strings.Count(before, "\n"), column: len(before) - strings.LastIndexByte(before, '\n')}
}

// locateJSON returns the place of the first key with the last name of a path.
func locateJSON(text string, path []string) position {
	key := strconv.Quote(path[len(path)-1])
	i := strings.Index(text, key)
	if i < 0 {
		return position{}
	}
	return positionOf(text, int64(i))
}
