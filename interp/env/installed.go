package env

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/interp/pysrc"
)

// lacking is a distribution that the source names without a condition and that is not in the
// environment dir; empty if there is none. A setting of the installer may have led it elsewhere.
func (s Source) lacking(dir string) string {
	var there []string
	for _, pattern := range []string{"lib*/*/site-packages/*", "Lib/site-packages/*"} {
		found, _ := fs.Glob(os.DirFS(dir), pattern)
		for _, path := range found {
			there = append(there, pysrc.Canonical(filepath.Base(path)))
		}
	}
	for _, name := range s.names() {
		if !slices.ContainsFunc(there, func(entry string) bool { return strings.HasPrefix(entry, pysrc.Canonical(name)+"-") }) {
			return name // else entry is that of name-1.0.dist-info, or of another kind of metadata
		}
	}
	return ""
}

// names are the distributions that the source names without a condition, as far as it says.
func (s Source) names() (all []string) {
	lines := s.Requirements
	switch s.Kind {
	case "requirements.txt":
		content, _, _ := bounded.Read(s.Path, maxSource) // the installer could read it
		lines = strings.Split(strings.ReplaceAll(string(content), "\\\n", ""), "\n")
	case "pylock.toml":
		content, _, _ := bounded.Read(s.Path, maxSource)
		var lock struct {
			Packages []struct{ Name, Marker string }
		}
		_ = bounded.TOML(content, &lock)
		for _, p := range lock.Packages {
			if p.Marker == "" {
				lines = append(lines, p.Name)
			}
		}
	}
	for _, line := range lines {
		if found := unconditional().FindStringSubmatch(line); found != nil && !local().MatchString(line) {
			all = append(all, found[1])
		}
	}
	return all
}

// unconditional is a requirement without a marker.
var unconditional = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(\w[\w.-]*)\s*(?:[\[(<>=!~@][^;]*)?(?:\s#.*)?$`) })
