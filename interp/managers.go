package interp

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// pyenvRoot is the root that the shim at path exports, else the variable, else
// the directory that holds shims.
func (f *finder) pyenvRoot(path string) string {
	text, _ := readHead(path, 2048)
	_, text, _ = strings.Cut(text, `PYENV_ROOT="`)
	if root, _, closed := strings.Cut(text, `"`); closed && filepath.IsAbs(root) {
		return root
	}
	return f.dataDir("PYENV_ROOT", path)
}

// pyenvSelection reads what pyenv would: PYENV_VERSION; the nearest
// .python-version from PYENV_DIR, then from the working directory upwards; the
// root's version file. None of them means the system's Python.
func (f *finder) pyenvSelection(root string) selection {
	if value := f.vars["PYENV_VERSION"]; value != "" {
		return selection{strings.Split(value, ":"), "PYENV_VERSION"}
	}
	file := ""
	for _, start := range [...]string{f.vars["PYENV_DIR"], f.Cwd} {
		if file == "" && filepath.IsAbs(start) {
			file = upwards(start, ".python-version")
		}
	}
	if file == "" {
		file = filepath.Join(root, "version")
	}
	chosen := selection{origin: file}
	text, _ := readHead(file, maxFile)
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			chosen.versions = append(chosen.versions, words[0])
		}
	}
	if len(chosen.versions) == 0 {
		chosen.versions = []string{"system"}
	}
	return chosen
}

// asdfSelection reads what asdf would: ASDF_PYTHON_VERSION, the nearest
// .tool-versions with a line for python, the one in the home directory.
func (f *finder) asdfSelection() selection {
	if value := f.vars["ASDF_PYTHON_VERSION"]; value != "" {
		return selection{strings.Fields(value), "ASDF_PYTHON_VERSION"}
	}
	for _, dir := range append(parents(f.Cwd), f.home()) {
		if chosen := toolVersions(filepath.Join(dir, ".tool-versions")); len(chosen.versions) > 0 {
			return chosen
		}
	}
	return selection{}
}

// miseSelection reads what mise would: MISE_PYTHON_VERSION, then in each
// directory upwards its own files and .tool-versions, then the user's own.
func (f *finder) miseSelection() selection {
	if value := f.vars["MISE_PYTHON_VERSION"]; value != "" {
		return selection{strings.Fields(value), "MISE_PYTHON_VERSION"}
	}
	for _, dir := range parents(f.Cwd) {
		for _, name := range [...]string{"mise.local.toml", "mise.toml", ".mise.toml", ".config/mise/config.toml"} {
			if chosen := miseFile(filepath.Join(dir, name)); len(chosen.versions) > 0 {
				return chosen
			}
		}
		if chosen := toolVersions(filepath.Join(dir, ".tool-versions")); len(chosen.versions) > 0 {
			return chosen
		}
	}
	config := f.vars["XDG_CONFIG_HOME"]
	if config == "" {
		config = filepath.Join(f.home(), ".config")
	}
	return miseFile(filepath.Join(config, "mise", "config.toml"))
}

// toolVersions reads the line for python of a .tool-versions.
func toolVersions(path string) selection {
	text, _ := readHead(path, maxFile)
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 1 && words[0] == "python" {
			return selection{words[1:], path}
		}
	}
	return selection{}
}

// miseFile reads [tools] python, which is a text, a list, or a table with a version.
func miseFile(path string) selection {
	text, err := readHead(path, maxFile)
	if err != nil {
		return selection{}
	}
	var file struct {
		Tools map[string]any `toml:"tools"`
	}
	if err := toml.Unmarshal([]byte(text), &file); err != nil {
		return selection{}
	}
	chosen := selection{origin: path}
	values, isList := file.Tools["python"].([]any)
	if !isList {
		values = []any{file.Tools["python"]}
	}
	for _, value := range values {
		if table, ok := value.(map[string]any); ok {
			value = table["version"]
		}
		if version, ok := value.(string); ok {
			chosen.versions = append(chosen.versions, version)
		}
	}
	return chosen
}

// upwards is the nearest file of that name from dir on, empty when there is none.
func upwards(dir, name string) string {
	for _, dir := range parents(dir) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// parents are dir and the directories above it.
func parents(dir string) []string {
	if !filepath.IsAbs(dir) {
		return nil
	}
	dirs := []string{filepath.Clean(dir)}
	for {
		up := filepath.Dir(dirs[len(dirs)-1])
		if up == dirs[len(dirs)-1] {
			return dirs
		}
		dirs = append(dirs, up)
	}
}
