package pysrc

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// These match in rendered code: an assignment, a name, __file__ with the calls around it and the
// code after it, and a step up from a path.
var (
	assignment = Expression(`^\s*(\w+)\s*(?::[^=]*)?=([^=].*)`)
	word       = Expression(`\w+`)
	ownFile    = Expression(`((?:[\w.]+\(\s*)*)__file__((?:[^_]|_[^_])*)`)
	parentOf   = Expression(`\.parent(?:s\[\s*(\d)\s*\])?`)
)

// longestPlace is the number of bytes of code that SearchPath remembers for a name.
const longestPlace = 500

// SearchPath returns the directories that the file adds to Python's search path relative to
// __file__. It goes up as many directories as dirname and parent do, and appends the literals that
// follow. It also follows a name that is assigned such a path.
func (f File) SearchPath() (dirs []string) {
	if !strings.Contains(f.code, "__file__") || !strings.Contains(f.code, "sys.path") && !strings.Contains(f.code, "addsitedir") {
		return nil
	}
	names := map[string]string{"pardir": "‹..›"}
	named := func(name string) string { return cmp.Or(names[name], name) }
	for line := range strings.Lines(f.code) {
		if m := assignment().FindStringSubmatch(line); m != nil {
			if place := word().ReplaceAllStringFunc(m[2], named); strings.Contains(place, "__file__") && len(place) < longestPlace {
				names[m[1]] = place
			}
		}
		if !strings.Contains(line, "sys.path") && !strings.Contains(line, "addsitedir") {
			continue
		}
		for _, m := range ownFile().FindAllStringSubmatch(word().ReplaceAllStringFunc(line, named), -1) {
			if dir := f.placed(m[1], m[2]); dir != f.Path && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// placed returns the path of an expression with __file__, given the calls before it and the code
// after it.
func (f File) placed(calls, behind string) string {
	up := strings.Count(calls, "dirname(")
	for _, m := range parentOf().FindAllStringSubmatch(behind, -1) {
		n, _ := strconv.Atoi(m[1]) // 0 for the direct parent
		up += n + 1
	}
	parts := []string{filepath.ToSlash(f.Path), strings.Repeat("../", min(up, 100))}
	for _, literal := range strings.Split(behind, "‹")[1:] {
		text, _, _ := strings.Cut(literal, "›")
		parts = append(parts, text)
	}
	return filepath.FromSlash(path.Join(parts...))
}
