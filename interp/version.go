package interp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Version is the version of a Python. The zero value means unknown.
type Version struct {
	// Major and Minor are the language version, such as 3 and 12.
	Major, Minor int
	// Patch is the third number, or -1 if it is unknown.
	Patch int
	// Pre is the tag of a pre-release, such as "rc2". A release has none.
	Pre string
}

// Known reports whether at least major and minor are known.
func (v Version) Known() bool { return v.Major > 0 }

// String returns the version as people write it: "3.12.4", "3.12" without a known patch,
// "unknown" for the zero value.
func (v Version) String() string {
	switch {
	case !v.Known():
		return "unknown"
	case v.Patch < 0:
		return fmt.Sprintf("%d.%d", v.Major, v.Minor)
	}
	return fmt.Sprintf("%d.%d.%d%s", v.Major, v.Minor, v.Patch, v.Pre)
}

// MarshalText returns the same as String.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// minor returns the version without its patch.
func (v Version) minor() Version { return Version{Major: v.Major, Minor: v.Minor, Patch: -1} }

func (v Version) sameMinor(w Version) bool { return v.Major == w.Major && v.Minor == w.Minor }

// preTags maps the spellings of pre-release tags to the usual ones.
var preTags = map[string]string{
	"a": "a", "alpha": "a", "b": "b", "beta": "b",
	"rc": "rc", "c": "rc", "pre": "rc", "preview": "rc", "candidate": "rc",
}

// parseVersion reads the version at the start of a text: "3.12.4", "3.12", "3.14.0rc2", "3.12.1+",
// "3.14.4.final.0", "3.13.0-dev". It returns the zero value if there is none.
func parseVersion(text string) Version {
	major, text, ok := leadingNumber(strings.TrimSpace(text))
	text, dot := strings.CutPrefix(text, ".")
	minor, text, also := leadingNumber(text)
	if !ok || !dot || !also {
		return Version{}
	}
	v := Version{Major: major, Minor: minor, Patch: -1}
	if rest, dot := strings.CutPrefix(text, "."); dot {
		if patch, rest, ok := leadingNumber(rest); ok {
			v.Patch, text = patch, rest
		}
	}
	text = strings.TrimPrefix(text, ".")
	rest := strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz")
	tag := preTags[text[:len(text)-len(rest)]]
	if serial, _, ok := leadingNumber(strings.TrimPrefix(rest, ".")); ok && tag != "" {
		v.Pre = tag + strconv.Itoa(serial)
		v.Patch = max(v.Patch, 0)
	}
	return v
}

// leadingNumber reads the number at the start of a text. It reads at most four digits.
func leadingNumber(text string) (n int, rest string, ok bool) {
	i := 0
	for i < len(text) && i < 4 && isDigit(text[i]) {
		n = n*10 + int(text[i]-'0')
		i++
	}
	return n, text[i:], i > 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// expression compiles a regular expression at its first use. Most runs use none, and compiling all
// of them would take longer than the rest of a start.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// request is a version that a source names, such as 3.12 or 3.13t.
type request struct {
	version Version
	free    bool   // free-threaded
	name    string // as people and version managers call it
	spec    string // specifiers instead of a version
}

// preRelease matches a version with the tag of a pre-release.
var preRelease = expression(`^\d+\.\d+(\.\d+)?(a|b|rc)\d+$`)

// parseRequest reads a version: "3.12", "3.14.0rc2", "python3.12", "3.13t",
// "cpython-3.12.1-linux-x86_64-gnu".
func parseRequest(text string) (r request, ok bool) {
	text = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(text, "c"), "python"), "-@")
	text, _, _ = strings.Cut(text, "-")                   // the platform follows
	text = strings.Replace(text, "+freethreaded", "t", 1) // as uv writes it
	r.name = text
	text, r.free = strings.CutSuffix(text, "t")
	if !isVersion(text) && !preRelease().MatchString(text) {
		return request{}, false
	}
	if isNumber(text) {
		r.version = Version{Major: int(text[0] - '0'), Minor: -1, Patch: -1}
		return r, len(text) == 1 && !r.free
	}
	r.version = parseVersion(text)
	return r, r.version.Known() && (!r.free || r.version.Minor >= 13)
}

// bound returns the requirement for r's version. For a free-threaded Python, messages show r's
// name, because a specifier set cannot express free-threaded.
func (r request) bound(source Source) bound {
	spec := "=="
	switch v := r.version; {
	case r.spec != "":
		spec = r.spec
	case v.Minor < 0:
		spec += fmt.Sprintf("%d.*", v.Major)
	case v.Patch < 0:
		spec += v.String() + ".*"
	default:
		spec += v.String()
	}
	b, _ := readRequirement(Requirement{Spec: spec, From: string(source)}) // spec is always valid
	if r.free {
		b.Spec = r.name
		b.clauses[0].written = r.name
	}
	return b
}

// parsePin reads a pin: a version, or specifiers in uv's form. Letter case does not matter, and a
// version may begin with v (PEP 440).
func parsePin(text string) (request, bool) {
	text = strings.ToLower(text)
	r, ok := parseRequest(strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(text, "=="), ".*"), "v"))
	if ok || !isSpec(text) || BadClause(text) != "" {
		return r, ok
	}
	return request{spec: text, name: text, version: Version{Minor: -1, Patch: -1}}, true
}
