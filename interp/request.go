package interp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// request is a version that is asked for, as people write it: 3.12, 3.13t, pypy3.10.
type request struct {
	implementation string // empty: any
	version        Version
	free           bool   // free-threaded
	name           string // as people and version managers call it
	spec           string // specifiers in place of a version; name is then one that satisfies them, if one follows
}

// parseRequest reads a version with or without the name of its implementation, as
// "3.12", "312", "3.12.1", "python3.12", "cpython-3.13t", "pypy3.10", "pypy3.10-7.3.11" or
// "cpython-3.12.1-linux-x86_64-gnu".
func parseRequest(text string) (request, bool) {
	var r request
	for _, implementation := range [...]string{"cpython", "python", "pypy"} {
		if rest, ok := strings.CutPrefix(text, implementation); ok {
			text = strings.TrimLeft(rest, "-@")
			if r.implementation = implementation; implementation == "python" {
				r.implementation = ""
			}
			break
		}
	}
	if r.implementation != "" {
		text, _, _ = strings.Cut(text, "-") // the version of PyPy follows, or the platform
	}
	text = strings.Replace(text, "+freethreaded", "t", 1) // as uv writes it
	text, r.free = strings.CutSuffix(text, "t")
	if len(text) == 2 || len(text) == 3 {
		if isNumber(text) && text[0] == '3' {
			text = text[:1] + "." + text[1:]
		}
	}
	if !isVersion(text) || strings.HasPrefix(text, ".") {
		return request{}, false
	}
	r.name = text
	if r.free {
		r.name += "t"
	}
	if r.implementation == "pypy" {
		r.name = "pypy" + r.name
	}
	if isNumber(text) {
		r.version = Version{Major: int(text[0] - '0'), Minor: -1, Patch: -1}
		return r, len(text) == 1 && !r.free
	}
	r.version = parseVersion(text)
	return r, r.version.Known() && (!r.free || r.version.Minor >= 13)
}

// bound requires r.version. No specifier set says that it is free-threaded, or PyPy.
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
		spec += Version{Major: v.Major, Minor: v.Minor, Patch: v.Patch}.String()
	}
	b, _ := readRequirement(Requirement{Spec: spec, From: string(source)}) // which is one
	if r.free || r.implementation == "pypy" {
		b.Spec = r.name
		b.clauses[0].written = r.name
	}
	return b
}

// parsePin reads what a file pins: a version, or specifiers, as uv writes them.
func (f *finder) parsePin(text string, source Source) (request, bool) {
	r, ok := parseRequest(strings.TrimSuffix(strings.TrimPrefix(text, "=="), ".*"))
	if ok || !isSpec(text) || BadClause(text) != "" {
		return r, ok
	}
	r = request{spec: text, version: Version{Minor: -1, Patch: -1}}
	bounds := f.bounds
	f.bounds = append(slices.Clip(f.bounds), r.bound(source))
	r.name = cmp.Or(f.worthInstalling(), text)
	f.bounds = bounds
	return r, true
}
