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

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
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

// readJSON adds a plugin.json. A plugin.json without server belongs to another program.
func (f *found) readJSON(m Manifest) error {
	var p pluginJSON
	if err := schema.Decode([]byte(m.text), &p); err != nil {
		return m.decodeError(err)
	}
	if p.Server == nil {
		return nil
	}
	if err := m.take(p); err != nil {
		return err
	}
	f.manifests = append(f.manifests, m)
	return nil
}

// decodeError adds the place to an error of encoding/json.
func (m Manifest) decodeError(err error) *hook.Error {
	at := position{}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = positionOf(m.text, syntax.Offset-1) // Offset is the position after the wrong byte
	} else if key := (*schema.KeyError)(nil); errors.As(err, &key) {
		at = positionOf(m.text, int64(key.Offset))
	} else if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(err, &mismatch) {
		at = positionOf(m.text, mismatch.Offset-1)
		want := "an object"
		if mismatch.Type.Kind() == reflect.String {
			want = "a string"
		}
		err = fmt.Errorf("%s is of type %s, expected %s", cmp.Or(mismatch.Field, "the document"), mismatch.Value, want)
	}
	return m.wrongAt(at, err.Error())
}

// take sets the keys that a plugin.json implies. It checks the entry and the version.
func (m *Manifest) take(p pluginJSON) error {
	m.Entry, m.entryKey = p.entry()
	if m.Entry == "" {
		return m.fault((&settings.Mistake{Text: "is missing, expected the file to run"}).Within(m.entryKey...))
	}
	if !inside(m.Dir, m.Entry) {
		return m.fault(settings.Wrong(m.Entry, "a path inside the plugin's directory").Within(m.entryKey...))
	}
	m.entry = from(m.Dir, m.Entry)
	m.ID, m.Transport, m.Host, m.WorkDir, m.CarriesErrors = p.ID, "grpc", "mattermost", m.Dir, true
	m.Env = []string{"MATTERMOST_PLUGIN_ID=" + p.ID, "MATTERMOST_PLUGIN_PATH=" + m.Dir}
	props, _ := p.Props.(map[string]any)
	m.python = p.Server.Runtime == "python" || props["runtime"] == "python" || strings.HasSuffix(m.Entry, ".py")
	if version := strings.TrimSpace(p.Server.PythonVersion); m.python && version != "" {
		if version[0] >= '0' && version[0] <= '9' {
			version = ">=" + version // Mattermost's "3.11" is a minimum
		}
		if bad := checkSpecifiers(version); bad != nil {
			return m.fault(settings.Wrong(p.Server.PythonVersion, `a version such as "3.11"`).Within("server", "python_version"))
		}
		m.RequiresPython = version
	}
	return nil
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

// positionOf converts an offset in bytes to a position.
func positionOf(text string, offset int64) position {
	before := text[:min(max(offset, 0), int64(len(text)))]
	return position{line: 1 + strings.Count(before, "\n"), column: len(before) - strings.LastIndexByte(before, '\n')}
}

// locateJSON returns the place of the first key that is equal to the last name of a path.
func locateJSON(text string, path []string) position {
	key := strconv.Quote(path[len(path)-1])
	i := strings.Index(text, key)
	if i < 0 {
		return position{}
	}
	return positionOf(text, int64(i))
}
