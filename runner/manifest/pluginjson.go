package manifest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Mattermost's magic cookie, from its server's plugin package.
const (
	mattermostKey   = "MATTERMOST_PLUGIN"
	mattermostValue = "Securely message teams, anywhere."
)

// pluginJSON is the part of a plugin.json that pyplug uses: the manifest of
// Mattermost's server, with the keys that its Python runtime adds.
type pluginJSON struct {
	id, runtime, propsRuntime, pythonVersion, entryPoint, executable string
	executables                                                      map[string]string
}

func (p *pluginJSON) keys() table {
	return table{
		"id": set(&p.id, anyText),
		"server": table{
			"runtime":        set(&p.runtime, anyText),
			"python_version": set(&p.pythonVersion, anyText),
			"executable":     set(&p.executable, anyText),
			"executables":    set(&p.executables, environment),
			"python":         table{"entry_point": set(&p.entryPoint, anyText)}.readKnown,
		}.readKnown,
		"props": func(value any) *problem {
			props, _ := value.(map[string]any)
			p.propsRuntime, _ = props["runtime"].(string)
			return nil
		},
	}
}

// readPluginJSON reads a plugin.json. It returns nil for one without server, which
// belongs to another program.
func readPluginJSON(dir string) (*source, error) {
	d := document{file: filepath.Join(dir, "plugin.json"), locate: locateJSON}
	var ok bool
	var err error
	if d.text, ok, err = read(d.file); err != nil || !ok {
		return nil, err
	}
	var root any
	if err := json.Unmarshal([]byte(d.text), &root); err != nil {
		at := position{}
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			at = positionOf(d.text, syntax.Offset-1) // Offset is after the wrong byte
		}
		e := d.errorAt(at)
		e.Message, e.Err = err.Error(), err
		return nil, e
	}
	var p pluginJSON
	if wrong := p.keys().readKnown(root); wrong != nil {
		return nil, d.fault(wrong)
	}
	if values := root.(map[string]any); values["server"] == nil {
		return nil, nil
	}
	return p.source(d, dir)
}

// source makes the file to run absolute and checks the version.
func (p pluginJSON) source(d document, dir string) (*source, error) {
	entry, key := p.entry()
	if entry == "" {
		return nil, d.fault(&problem{path: key, is: "is absent, want the file to run"})
	}
	path, ok := inside(dir, entry)
	if !ok {
		return nil, d.fault(wrong(entry, "a path inside the plugin's directory").within(key...))
	}
	s := &source{
		Manifest: Manifest{
			File: d.file, Form: PluginJSON, Dir: dir, ID: p.id, Entry: entry, Transport: "grpc",
			CookieKey: mattermostKey, CookieValue: mattermostValue, ProtocolVersions: []int{1},
			Env: map[string]string{"MATTERMOST_PLUGIN_ID": p.id, "MATTERMOST_PLUGIN_PATH": dir},
			Cwd: dir, ErrorField: "error",
		},
		document: d, entryKey: key, entry: path,
		python: p.runtime == "python" || p.propsRuntime == "python" || strings.HasSuffix(entry, ".py"),
	}
	if version := strings.TrimSpace(p.pythonVersion); s.python && version != "" {
		if version[0] >= '0' && version[0] <= '9' {
			version = ">=" + version // Mattermost's "3.11" is a minimum
		}
		if bad := checkSpecifiers(version); bad != nil {
			p := wrong(p.pythonVersion, `a version such as "3.11"`).within("server", "python_version")
			p.hint = bad.hint
			return nil, d.fault(p)
		}
		s.RequiresPython = version
	}
	return s, nil
}

// entry returns the file to run and the key that names it.
func (p pluginJSON) entry() (entry string, key []string) {
	platform := runtime.GOOS + "-" + runtime.GOARCH
	switch {
	case p.entryPoint != "":
		return p.entryPoint, []string{"server", "python", "entry_point"}
	case p.executables[platform] != "":
		return p.executables[platform], []string{"server", "executables", platform}
	}
	return p.executable, []string{"server", "executable"}
}

// inside makes entry absolute. It rejects one that leaves dir by ".." or a link.
func inside(dir, entry string) (string, bool) {
	entry = filepath.FromSlash(entry)
	if !filepath.IsLocal(entry) {
		return "", false
	}
	path := filepath.Join(dir, entry)
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path, errors.Is(err, os.ErrNotExist)
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(root, real)
	return path, err == nil && filepath.IsLocal(rel)
}

// positionOf converts an offset in bytes.
func positionOf(text string, offset int64) position {
	before := text[:min(max(offset, 0), int64(len(text)))]
	return position{line: 1 + strings.Count(before, "\n"), column: len(before) - strings.LastIndexByte(before, '\n')}
}

// locateJSON finds a key in JSON that was decoded without error.
func locateJSON(text string, path []string, value bool) position {
	decoder := json.NewDecoder(strings.NewReader(text))
	for i, key := range path {
		if open, err := decoder.Token(); err != nil || open != json.Delim('{') || !skipTo(decoder, key) {
			break
		}
		if i < len(path)-1 {
			continue
		}
		found := text[:decoder.InputOffset()]
		start := strings.LastIndexByte(found[:len(found)-1], '"')
		var raw json.RawMessage
		if value && decoder.Decode(&raw) == nil && raw[0] != '{' && raw[0] != '[' {
			found = text[:decoder.InputOffset()]
			start = len(found) - len(raw)
		}
		at := positionOf(text, int64(start))
		at.width = len(found) - start
		return at
	}
	return position{}
}

// skipTo reads up to and including a key of the current object.
func skipTo(decoder *json.Decoder, key string) bool {
	for decoder.More() {
		if name, err := decoder.Token(); err != nil || name == key {
			return err == nil
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return false
		}
	}
	return false
}
