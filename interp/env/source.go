package env

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/pyplug/pyplug/interp/pysrc"
)

// Source is the file that says what the environment must hold.
type Source struct {
	// Kind is the file's name, or "PEP 723" for a block in the plugin's script.
	Kind string
	// Path is the file, absolute.
	Path string
	// Requirements are PEP 508 requirements. They are nil for a lock file and a
	// requirements.txt, which the installer reads.
	Requirements []string

	tool   string // the one that wrote a lock file
	digest string // of what it asks for
}

// block is the kind of a source that is not a file of its own.
const block = "PEP 723"

// files are the files that may be a source, in order, with the tool that must read it.
var files = []struct{ name, tool string }{
	{"uv.lock", "uv"}, {"poetry.lock", "poetry"}, {"pdm.lock", "pdm"}, {"pylock.toml", "uv"}, {"pyproject.toml", ""}, {"requirements.txt", ""},
}

// maxSource bounds the size of a source.
const maxSource = 64 << 20

// errNone reports that a file asks for nothing.
var errNone = errors.New("no requirements")

// HasSource reports whether a file says what a plugin needs, see [NewPlan].
func HasSource(entry string, dirs []string) bool {
	_, err := findSource(entry, dirs)
	return err == nil
}

// findSource finds the source of a plugin whose script is entry, if that is a file.
func findSource(entry string, dirs []string) (Source, error) {
	s, err := readSource(Source{Kind: block, Path: entry})
	if !errors.Is(err, errNone) {
		return s, err
	}
	for _, dir := range dirs {
		for _, file := range files {
			s, err := readSource(Source{Kind: file.name, Path: filepath.Join(dir, file.name), tool: file.tool})
			if !errors.Is(err, errNone) {
				return s, err
			}
		}
	}
	return Source{}, errNone
}

// readSource reads the file at s.Path. The error is errNone if there is none.
func readSource(s Source) (Source, error) {
	info, err := os.Stat(s.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular():
		return Source{}, errNone
	case err != nil:
		return Source{}, err
	case info.Size() > maxSource:
		return Source{}, fmt.Errorf("%s has %d bytes, want at most %d", s.Path, info.Size(), maxSource)
	}
	content, err := os.ReadFile(s.Path)
	if err != nil {
		return Source{}, err
	}
	switch s.Kind {
	case block:
		if filepath.Ext(s.Path) == ".pyz" {
			return Source{}, errNone
		}
		found, err := pysrc.Script(pysrc.Decode(content))
		if err != nil || found.Line == 0 {
			return Source{}, errNone // a broken block is an error of the plugin, which others report
		}
		var script struct{ Dependencies []string }
		if err := toml.Unmarshal([]byte(found.Text), &script); err != nil {
			return Source{}, fmt.Errorf("%s: the script block: %w", s.Path, err)
		}
		if script.Dependencies == nil {
			return Source{}, errNone
		}
		s.Requirements = script.Dependencies
	case "pyproject.toml":
		var project struct {
			Project struct{ Dependencies []string }
		}
		if err := toml.Unmarshal(content, &project); err != nil {
			return Source{}, fmt.Errorf("%s: %w", s.Path, err)
		}
		if project.Project.Dependencies == nil {
			return Source{}, errNone
		}
		s.Requirements = project.Project.Dependencies
	case "requirements.txt":
		content = append(content, included(s.Path, content, 0)...)
	}
	if s.Requirements != nil {
		slices.Sort(s.Requirements)
		s.Requirements = slices.Compact(s.Requirements)
		content = []byte(strings.Join(s.Requirements, "\n"))
	}
	s.digest = digest(s.Kind, string(content))
	return s, nil
}

// included is the content of the files that a requirements file names by -r and -c: when
// one of them changes, another environment is wanted.
func included(path string, content []byte, depth int) (all []byte) {
	if depth > 8 {
		return nil
	}
	for line := range strings.Lines(string(content)) {
		words := strings.Fields(strings.Replace(line, "=", " ", 1))
		if len(words) < 2 || !slices.Contains([]string{"-r", "-c", "--requirement", "--constraint"}, words[0]) {
			continue
		}
		name := words[1]
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
			continue // the installer reports it
		}
		more, err := os.ReadFile(name)
		if err == nil {
			all = append(append(all, more...), included(name, more, depth+1)...)
		}
	}
	return all
}

// digest is the hash of texts, as hexadecimal digits.
func digest(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:8])
}
