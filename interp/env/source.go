package env

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/schema"
)

// Source is the file that lists the requirements of an environment.
type Source struct {
	// Kind is the file's name, "PEP 723" for a block in the script, or "PEP 723 lock" for the
	// lock file of a script.
	Kind string
	// Path is the absolute path of the file.
	Path string
	// Requirements are PEP 508 requirements, sorted. They are nil for files that the installer
	// reads: lock files and requirements.txt.
	Requirements []string

	text     string // the content of the file
	needsUV  bool   // another tool cannot read it, or would find other packages
	settings string // uv's settings that say where packages come from
	member   string // the project's directory if uv.lock belongs to its workspace
}

// block is the kind of a script's block. blockLock is the kind of a script's lock file.
const block, blockLock = "PEP 723", "PEP 723 lock"

// files lists the files that may be a source. The first that has requirements is the source.
var files = []string{"uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "pyproject.toml", "setup.cfg", "requirements.txt"}

// ofTools maps the lock file of a tool that keeps the project's environment to the tool's command
// line that makes the environment. The caller appends the project's directory.
var ofTools = map[string]string{"uv.lock": "uv sync --project ", "poetry.lock": "poetry install --directory ", "pdm.lock": "pdm install --project "}

// maxSource bounds the size of a source. A lock file may be larger than source code.
const maxSource = 16 << 20

// errNone is the error for a file without requirements.
var errNone = errors.New("no requirements")

// SourceOf returns the file that lists a plugin's requirements, or the zero Source. See [NewPlan].
func SourceOf(entry string, dirs []string) Source {
	s, _ := findSource(entry, dirs) // a sync reports a file that cannot be read
	return s
}

// Venv returns the directory of the environment that [Plan.Make] would make, or "" for the zero
// Source.
func (s Source) Venv() string {
	if s.Path == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(s.Path), ".venv")
}

// Installable reports whether [Plan.Make] installs the requirements of the source.
func (s Source) Installable() bool {
	return s.Path != "" && (s.Tool() == "" || s.Tool() == "uv")
}

// Tool returns uv, poetry or pdm if the source is a lock file of that tool, or "". [Plan.Make]
// installs only lock files of uv.
func (s Source) Tool() string {
	if ofTools[s.Kind] == "" {
		return ""
	}
	return strings.TrimSuffix(s.Kind, ".lock")
}

// ToolLine returns the command line of [Source.Tool] that makes the environment, or "".
func (s Source) ToolLine() string {
	if s.Tool() == "" {
		return ""
	}
	return ofTools[s.Kind] + schema.QuoteLine([]string{filepath.Dir(s.Path)})
}

// findSource returns the source of the plugin with the script entry.
func findSource(entry string, dirs []string) (Source, error) {
	s, err := readSource(block, entry)
	if err == nil {
		lock, err := readSource(blockLock, entry+".lock")
		if errors.Is(err, errNone) {
			return s, nil
		}
		return lock, err
	}
	if !errors.Is(err, errNone) {
		return s, err
	}
	for i, dir := range dirs {
		for _, name := range files {
			s, err := readSource(name, filepath.Join(dir, name))
			if err == nil && name == "pyproject.toml" {
				return s.locked(dirs[i+1:]), nil
			}
			if !errors.Is(err, errNone) {
				return s, err
			}
		}
	}
	return Source{}, errNone
}

// installable returns the source if pyplug can install it, or errNone.
func installable(entry string, dirs []string) (Source, error) {
	s, err := findSource(entry, dirs)
	if err == nil && !s.Installable() {
		return Source{}, errNone
	}
	return s, err
}

// locked returns the uv.lock of the project's workspace if it is in one of dirs, or else s.
func (s Source) locked(dirs []string) Source {
	for _, dir := range dirs {
		if !interp.IsWorkspace(dir) {
			continue
		}
		if lock, err := readSource("uv.lock", filepath.Join(dir, "uv.lock")); err == nil {
			lock.member = filepath.Dir(s.Path)
			return lock
		}
	}
	return s
}

// owner returns the owner of the source: a script, or the directory of a project.
func (s Source) owner() string {
	switch s.Kind {
	case block:
		return s.Path
	case blockLock:
		return strings.TrimSuffix(s.Path, ".lock")
	}
	return cmp.Or(s.member, filepath.Dir(s.Path))
}

// asks returns the requirements in a form that can be compared: the list, or the hash of a file
// that the installer reads.
func (s Source) asks() []string {
	if s.Requirements != nil && s.settings == "" {
		return s.Requirements
	}
	sum := sha256.Sum256([]byte(s.text + s.settings))
	return []string{"sha256:" + hex.EncodeToString(sum[:])}
}

// readSource reads a file. It returns errNone if the file has no requirements.
func readSource(kind, path string) (Source, error) {
	s := Source{Kind: kind, Path: path, needsUV: kind == blockLock || kind == "uv.lock" || kind == "pylock.toml"}
	most := int64(maxSource)
	switch kind {
	case block, "setup.cfg", "requirements.txt":
		most = pysrc.LargestFile
	case "pyproject.toml":
		most = pysrc.LargestManifest
	}
	content, _, err := bounded.Read(path, most)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, bounded.ErrIrregular), kind == block && errors.Is(err, bounded.ErrLarge):
		return Source{}, errNone
	case err != nil:
		return Source{}, err
	}
	s.text = bounded.Text(content)
	switch kind {
	case block, "pyproject.toml", "setup.cfg":
		uv, err := s.list(content)
		if err != nil {
			return Source{}, err
		}
		s.text = strings.Join(s.Requirements, "\n")
		if uv["sources"] != nil || uv["index"] != nil || uv != nil && kind == block { // another tool would find other packages
			s.needsUV, s.settings = true, fmt.Sprint(uv)
		}
	case "requirements.txt":
		s.text = strings.Join(append([]string{s.text}, pysrc.Includes(path, s.text)...), "\n")
	}
	return s, nil
}

// Names returns the distributions that the file lists, in its spelling.
func (s Source) Names() (names []string) {
	name := lockedName
	if s.Requirements != nil || s.Kind == "requirements.txt" {
		name = requiredName
	}
	for _, m := range name().FindAllStringSubmatch(pysrc.Decode([]byte(s.text)), -1) {
		names = append(names, m[1])
	}
	return names
}

// list reads the requirements of a script's block, a pyproject.toml or a setup.cfg, and sorts
// them. It returns the settings of uv.
func (s *Source) list(content []byte) (uv map[string]any, err error) {
	switch s.Kind {
	case block:
		found, err := pysrc.Script(pysrc.Decode(content))
		if filepath.Ext(s.Path) == ".pyz" || err != nil { // opening the plugin reports the error
			return nil, errNone
		}
		content = []byte(found.Text)
	case "setup.cfg":
		list := pysrc.InstallRequires(bounded.Text(content))
		if list == nil {
			return nil, errNone
		}
		return nil, require(s, "install_requires", list)
	}
	var file struct {
		Dependencies any
		Project      struct{ Dependencies any }
		Tool         struct{ UV map[string]any }
	}
	if err := bounded.TOML(content, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	value := file.Project.Dependencies
	if s.Kind == block {
		value = file.Dependencies
	}
	if value == nil {
		return nil, errNone
	}
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("%s: dependencies is %#v, expected a list such as [\"numpy>=2\"]", s.Path, value)
	}
	return file.Tool.UV, require(s, "dependencies", list)
}

// require sets s.Requirements to list, sorted. name is the list's key in the file, for errors.
func require[T any](s *Source, name string, list []T) error {
	s.Requirements = make([]string, len(list))
	for i, item := range list {
		if s.Requirements[i], _ = any(item).(string); !requirement().MatchString(s.Requirements[i]) {
			return fmt.Errorf("%s: %s[%d] is %#v, expected a requirement such as \"numpy>=2\"", s.Path, name, i, item)
		}
	}
	slices.Sort(s.Requirements)
	s.Requirements = slices.Compact(s.Requirements)
	return nil
}

var (
	// requirement matches a PEP 508 requirement. It does not match an option or a path.
	requirement = pysrc.Expression(`^\s*\w[\w.-]*\s*([\[(<>=!~;@].*)?$`)
	// requiredName matches a line that names a distribution of a package index. It does not match a
	// line that names a file, a directory or a URL. lockedName matches such a line of a lock file.
	requiredName = pysrc.Expression(`(?m)^[ \t]*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)[ \t]*(?:\[[^\]]*\][ \t]*)?(?:$|[<>=!~;#(])`)
	lockedName   = pysrc.Expression(`(?m)^name = "([\w.-]+)"`)
)
