package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
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

// pluginJSON is what is used of a plugin.json: the manifest of Mattermost's
// server with the keys that its Python runtime adds. Other keys are its own
// affair.
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
	Props map[string]any `json:"props"`
}

// readPluginJSON reads a plugin.json. One without server is another program's.
func readPluginJSON(dir string, found *beside) error {
	file := filepath.Join(dir, "plugin.json")
	text, ok, err := read(file)
	if err != nil || !ok {
		return err
	}
	var p pluginJSON
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return jsonError(file, text, err)
	}
	if p.Server == nil {
		return nil
	}
	entry, key := p.entry()
	at := &Error{Reason: BadValue, File: file, Key: dotted(key), Line: jsonLine(text, key), Seen: fmt.Sprintf("%q", entry)}
	if entry == "" {
		at.Seen, at.Wanted = "absent", "the file to run"
		return at
	}
	path, ok := inside(dir, entry)
	if !ok {
		at.Wanted = "a path inside the plugin's directory"
		return at
	}
	at.Wanted, at.Suggest = "a file that exists", near(path)
	c := &candidate{
		Manifest: Manifest{
			File: file, Form: PluginJSON, Dir: dir, ID: p.ID, Entry: entry, Transport: "grpc",
			CookieKey: mattermostKey, CookieValue: mattermostValue, ProtocolVersions: []int{1},
			Env: map[string]string{"MATTERMOST_PLUGIN_ID": p.ID, "MATTERMOST_PLUGIN_PATH": dir},
			Cwd: dir, ErrorField: "error",
		},
		entry: path, entryAt: at,
		python: p.Server.Runtime == "python" || p.Props["runtime"] == "python" || strings.HasSuffix(entry, ".py"),
	}
	if version := strings.TrimSpace(p.Server.PythonVersion); c.python && version != "" {
		// "3.11" is allowed there and means the least that will do.
		if version[0] >= '0' && version[0] <= '9' {
			version = ">=" + version
		}
		if wrong := checkSpecifiers(version); wrong != nil {
			key := []string{"server", "python_version"}
			return &Error{Reason: BadValue, File: file, Key: dotted(key), Line: jsonLine(text, key),
				Seen: show(p.Server.PythonVersion), Wanted: `a version such as "3.11"`, Suggest: wrong.suggest}
		}
		c.RequiresPython = version
	}
	found.plugin = c
	return nil
}

// entry is the file to run and the key that names it.
func (p pluginJSON) entry() (entry string, key []string) {
	if p.Server.Python.EntryPoint != "" {
		return p.Server.Python.EntryPoint, []string{"server", "python", "entry_point"}
	}
	platform := runtime.GOOS + "-" + runtime.GOARCH
	if p.Server.Executables[platform] != "" {
		return p.Server.Executables[platform], []string{"server", "executables", platform}
	}
	return p.Server.Executable, []string{"server", "executable"}
}

// inside makes entry absolute; it may leave dir neither by its text nor by links.
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

// jsonError tells where JSON is wrong.
func jsonError(file, text string, err error) *Error {
	e := &Error{Reason: Syntax, File: file, Seen: err.Error(), Err: err}
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped):
		e.Reason, e.Key, e.Seen = BadValue, mistyped.Field, "a JSON "+mistyped.Value
		e.Wanted = "a JSON " + jsonKind(mistyped.Type.Kind().String())
		if e.Key == "" {
			e.Key = "the whole"
		}
		e.Line, _ = position(text, mistyped.Offset)
	case errors.As(err, &syntax):
		// The offset is behind the byte that was wrong.
		e.Line, e.Column = position(text, syntax.Offset-1)
	}
	if e.Line > 0 {
		e.Text = strings.TrimSuffix(strings.Split(text, "\n")[e.Line-1], "\r")
	}
	return e
}

// jsonKind is the JSON word for a kind of Go.
func jsonKind(kind string) string {
	if kind == "string" {
		return kind
	}
	return "object"
}

// position is line and column of an offset, from 1.
func position(text string, offset int64) (line, column int) {
	before := text[:min(max(offset, 0), int64(len(text)))]
	return 1 + strings.Count(before, "\n"), len(before) - strings.LastIndexByte(before, '\n')
}

// jsonLine is the line of a key in JSON that was read without error, from 1; 0
// when the key is not there.
func jsonLine(text string, path []string) int {
	decoder := json.NewDecoder(strings.NewReader(text))
	var here []string
	var objects []bool // for each open bracket, whether it is an object
	wantKey := false
	for {
		token, err := decoder.Token()
		if err != nil {
			return 0
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				objects = append(objects, t == '{')
				here = append(here, "")
			} else {
				objects, here = objects[:len(objects)-1], here[:len(here)-1]
			}
			wantKey = len(objects) > 0 && objects[len(objects)-1]
			continue
		case string:
			if wantKey {
				here[len(here)-1] = t
				wantKey = false
				if dotted(here) == dotted(path) {
					line, _ := position(text, decoder.InputOffset())
					return line
				}
				continue
			}
		}
		wantKey = len(objects) > 0 && objects[len(objects)-1]
	}
}
