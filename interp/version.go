package interp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
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

// Known tells whether at least major and minor are known.
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

// versionText matches what files hold: "3.12.4", "3.12", "3.14.0rc2", "3.12.1+",
// "3.14.4.final.0", "3.13.0-dev".
var versionText = regexp.MustCompile(`^(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:\.?(a|b|rc|alpha|beta|candidate)\.?(\d{1,4}))?`)

var preTags = map[string]string{"a": "a", "alpha": "a", "b": "b", "beta": "b", "rc": "rc", "candidate": "rc"}

// parseVersion reads a version at the start of text; the zero value when there
// is none.
func parseVersion(text string) Version {
	m := versionText.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return Version{}
	}
	v := Version{Patch: -1}
	v.Major, _ = strconv.Atoi(m[1])
	v.Minor, _ = strconv.Atoi(m[2])
	if m[3] != "" {
		v.Patch, _ = strconv.Atoi(m[3])
	}
	if m[4] != "" {
		v.Pre = preTags[m[4]] + m[5]
		v.Patch = max(v.Patch, 0)
	}
	return v
}
