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
)

// Source is the file that says what the environment must contain.
type Source struct {
	// Kind is the file's name, "PEP 723" for a block in the script, or "PEP 723 lock" for the
	// lock file of a script.
	Kind string
	// Path is the file, absolute.
	Path string
	// Requirements are PEP 508 requirements. They are nil for files that the installer reads:
	// lock files and requirements.txt.
	Requirements []string

	text     string      // what the file lists
	tool     string      // the tool that must read the file, such as the one that wrote a lock file; empty for any
	digest   string      // hash of what the source asks for
	place    string      // what else the meaning depends on, such as the directory; empty if it is the same everywhere
	noMain   bool        // poetry.lock of a project whose dependencies are all in other groups
	includes bool        // it includes files, whose content counts
	member   string      // the project's directory, if uv.lock belongs to its workspace
	info     fs.FileInfo // of the file, before it was read
}

// block is the kind of a script's block, blockLock that of a script's lock file.
const block, blockLock = "PEP 723", "PEP 723 lock"

// files lists the files that may be a source, in order, with the tool that must read them.
var files = []struct{ name, tool string }{
	{"uv.lock", "uv"}, {"poetry.lock", "poetry"}, {"pdm.lock", "pdm"}, {"pylock.toml", "uv"}, {"pyproject.toml", ""},
	{"setup.cfg", ""}, {"requirements.txt", ""},
}

// maxSource bounds the size of a source. A lock file may be larger than source code.
const maxSource = 16 << 20

// errNone reports that a file asks for nothing.
var errNone = errors.New("no requirements")

// SourceOf returns the file that says what a plugin needs, or the zero Source. See [NewPlan].
func SourceOf(entry string, dirs []string) Source {
	s, _ := findSource(entry, dirs) // a sync reports one that cannot be read
	return s
}

// findSource returns the source of a plugin whose script is entry.
func findSource(entry string, dirs []string) (Source, error) {
	s, err := readSource(Source{Kind: block, Path: entry})
	if err == nil {
		lock, err := readSource(Source{Kind: blockLock, Path: entry + ".lock", tool: "uv"})
		if !errors.Is(err, errNone) {
			lock.place += s.digest // uv compares the two
			return lock, err
		}
	}
	if !errors.Is(err, errNone) {
		return s, err
	}
	for i, dir := range dirs {
		for _, file := range files {
			s, err := readSource(Source{Kind: file.name, Path: filepath.Join(dir, file.name), tool: file.tool})
			if err == nil && file.name == "pyproject.toml" {
				return s.locked(dirs[i+1:]), nil
			}
			if !errors.Is(err, errNone) {
				return s, err
			}
		}
	}
	return Source{}, errNone
}

// shared returns the directory below which plugins share the source. It is "" if the source
// belongs to one script.
func (s Source) shared() string {
	if s.Path == "" || s.Kind == block || s.Kind == blockLock {
		return ""
	}
	return cmp.Or(s.member, filepath.Dir(s.Path))
}

// locked returns the uv.lock of the project's workspace if dirs contain it, else s.
func (s Source) locked(dirs []string) Source {
	for _, dir := range dirs {
		if !interp.IsWorkspace(dir) {
			continue
		}
		if lock, err := readSource(Source{Kind: "uv.lock", Path: filepath.Join(dir, "uv.lock"), tool: "uv"}); err == nil {
			lock.member = filepath.Dir(s.Path)
			lock.place += lock.member + s.digest // uv compares the two
			return lock
		}
	}
	return s
}

// readSource reads the file at s.Path. The error is errNone if there is none.
func readSource(s Source) (Source, error) {
	most := int64(maxSource)
	switch {
	case s.Kind == "pyproject.toml":
		most = pysrc.LargestManifest
	case s.tool == "":
		most = pysrc.LargestFile
	}
	content, info, err := bounded.Read(s.Path, most)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, bounded.ErrIrregular), s.Kind == block && errors.Is(err, bounded.ErrLarge):
		return Source{}, errNone
	case err != nil:
		return Source{}, err
	}
	s.info, s.text = info, bounded.Text(content)
	switch s.Kind {
	case block, "pyproject.toml", "setup.cfg":
		uv, err := s.list(content)
		if err != nil {
			return Source{}, err
		}
		s.text = strings.Join(s.Requirements, "\n")
		content = []byte(s.text)
		if uv["sources"] != nil || uv["index"] != nil || uv != nil && s.Kind == block { // another tool would find other packages
			s.tool, s.place, content = "uv", filepath.Dir(s.Path), fmt.Append(content, uv)
		}
	case "requirements.txt":
		texts := append([]string{s.text}, pysrc.Includes(s.Path, s.text)...)
		content, s.text = []byte(strings.Join(texts, "")), strings.Join(texts, "\n")
		s.includes = len(texts) > 1
		if local().Match(content) {
			s.place = filepath.Dir(s.Path)
		}
	default: // its tool compares a lock file with the project
		project, _, _ := bounded.Read(filepath.Join(filepath.Dir(s.Path), "pyproject.toml"), pysrc.LargestFile) // which the tool reports
		s.place, s.noMain = digest(filepath.Dir(s.Path), string(project)), s.Kind == "poetry.lock" && !hasMain(project)
	}
	s.digest = digest(s.Kind, string(content))
	return s, nil
}

// Names returns the distributions that the file lists, as they are written.
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

// hasMain reports whether a project of poetry has the main group. Without dependencies it has none,
// and poetry refuses to install it.
func hasMain(project []byte) bool {
	var file struct {
		Project struct {
			Dependencies any
			Optional     map[string]any `toml:"optional-dependencies"`
		}
		Tool struct{ Poetry struct{ Dependencies any } }
	}
	err := bounded.TOML(project, &file) // which poetry reports
	return err != nil || file.Project.Dependencies != nil || len(file.Project.Optional) > 0 || file.Tool.Poetry.Dependencies != nil
}

// list reads the requirements of a script's block, a pyproject.toml or a setup.cfg, and sorts
// them. It returns the settings of uv.
func (s *Source) list(content []byte) (uv map[string]any, err error) {
	switch s.Kind {
	case block:
		found, err := pysrc.Script(pysrc.Decode(content))
		if filepath.Ext(s.Path) == ".pyz" || err != nil { // others report an error of the plugin
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
		return nil, fmt.Errorf("%s: dependencies is %#v, want a list such as [\"numpy>=2\"]", s.Path, value)
	}
	return file.Tool.UV, require(s, "dependencies", list)
}

// require sets s.Requirements to list, sorted. name is the list's key in the file, for errors.
func require[T any](s *Source, name string, list []T) error {
	s.Requirements = make([]string, len(list))
	for i, item := range list {
		if s.Requirements[i], _ = any(item).(string); !requirement().MatchString(s.Requirements[i]) {
			return fmt.Errorf("%s: %s[%d] is %#v, want a requirement such as \"numpy>=2\"", s.Path, name, i, item)
		}
	}
	slices.Sort(s.Requirements)
	s.Requirements = slices.Compact(s.Requirements)
	return nil
}

var (
	// requirement matches a PEP 508 requirement, and neither an option nor a path.
	requirement = pysrc.Expression(`^\s*\w[\w.-]*\s*([\[(<>=!~;@].*)?$`)
	// requiredName matches a line that names a distribution of a package index. It matches no line
	// that names a file, a directory or an address. lockedName matches such a line of a lock file.
	requiredName = pysrc.Expression(`(?m)^[ \t]*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)[ \t]*(?:\[[^\]]*\][ \t]*)?(?:$|[<>=!~;#(])`)
	lockedName   = pysrc.Expression(`(?m)^name = "([\w.-]+)"`)
	// local matches a line of a requirements file that may name a relative path.
	local = pysrc.Expression(`(?m)^([^#\n]*\s)?(\.|-e|-f|--editable|--find-links|file:|[^\s:#]+[/\\]|[^\s:#]+\.(whl|zip|gz|bz2|tgz)\b)`)
)

// digest returns the hash of texts as hexadecimal digits.
func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}
