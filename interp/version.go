package interp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Version is the version of a Python. The zero value is an unknown one.
type Version struct {
	// Major and Minor are the language version, such as 3 and 12.
	Major, Minor int
	// Patch is the third number, -1 when it is not known.
	Patch int
	// Pre is the tag of a pre-release, such as "rc2"; empty for a release.
	Pre string
}

// Known reports whether at least major and minor are known.
func (v Version) Known() bool { return v.Major > 0 }

// String is the version as people write it: "3.12.4", "3.12" when the patch is
// not known, "unknown" for the zero value.
func (v Version) String() string {
	switch {
	case !v.Known():
		return "unknown"
	case v.Patch < 0:
		return fmt.Sprintf("%d.%d", v.Major, v.Minor)
	}
	return fmt.Sprintf("%d.%d.%d%s", v.Major, v.Minor, v.Patch, v.Pre)
}

// minor is the version without its patch.
func (v Version) minor() Version { return Version{Major: v.Major, Minor: v.Minor, Patch: -1} }

func (v Version) sameMinor(w Version) bool { return v.Major == w.Major && v.Minor == w.Minor }

var preTags = map[string]string{"a": "a", "alpha": "a", "b": "b", "beta": "b", "rc": "rc", "candidate": "rc"}

// parseVersion reads a version at the start of text, as files hold it: "3.12.4",
// "3.12", "3.14.0rc2", "3.12.1+", "3.14.4.final.0", "3.13.0-dev". It is the zero
// value when there is none.
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

// leadingNumber reads the number that text begins with; no part of a version has
// more than four digits.
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

// expression compiles a regular expression when it is first needed. Most runs
// need none, and all of them would take longer than the rest of a start.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
