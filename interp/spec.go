package interp

import (
	"fmt"
	"strconv"
	"strings"
)

// Requirement is a requires-python and its place.
type Requirement struct {
	// Spec is a specifier set (PEP 440), such as ">=3.11,<3.14". "" allows every version.
	Spec string
	// From names the place for messages, such as "plugin.py".
	From string
}

// minimum is the requirement of pyplug itself.
var minimum = Requirement{Spec: ">=3.9", From: "pyplug"}

// minimumBound is minimum as [readRequirement] returns it. Every start needs it, and parsing
// takes time.
var minimumBound = bound{minimum, []clause{{">=", []int{3, 9}, false, ">=3.9"}}}

// clause is one comparison of a specifier set. A pre-release in it counts as its release.
type clause struct {
	op       string
	release  []int
	wildcard bool
	written  string // the whole clause
}

// bound is a requirement with its parsed clauses.
type bound struct {
	Requirement
	clauses []clause
}

// clauses returns the clauses of all requirements.
func (f *finder) clauses() (all []clause) {
	for i := range f.bounds {
		all = append(all, f.bounds[i].clauses...)
	}
	return all
}

// verdict says whether a version satisfies a requirement. It is unknown if the patch decides and
// no file says it.
type verdict uint8

const (
	no verdict = iota
	unknown
	yes
)

// clauseText matches a clause. parseClause checks what each operator allows.
var clauseText = expression(`(?i)^(~=|===?|!=|<=|>=|<|>)\s*v?(\d+(?:\.\d+)*)(\.\*|(?:[-._]?(?:a|b|c|rc|alpha|beta|pre|preview|post|rev|r|dev)[-._]?\d*)*)$`)

// readRequirement parses a specifier set. The error is an [*Error].
func readRequirement(r Requirement) (bound, error) {
	clauses, bad := parseClauses(r.Spec)
	if bad != "" {
		return bound{}, badSpec(r, bad)
	}
	return bound{r, clauses}, nil
}

// BadClause returns the first invalid clause of a specifier set, or "".
func BadClause(spec string) string {
	_, bad := parseClauses(spec)
	return bad
}

// mostClauses bounds a specifier set.
const mostClauses = 100

// parseClauses parses a specifier set. bad is the first invalid clause.
func parseClauses(spec string) (clauses []clause, bad string) {
	for part := range strings.SplitSeq(spec, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		c, ok := parseClause(part)
		if len(clauses) == mostClauses {
			part, ok = fmt.Sprintf("%s, clause %d of at most %d,", part, mostClauses+1, mostClauses), false
		}
		if !ok {
			return nil, part
		}
		clauses = append(clauses, c)
	}
	return clauses, ""
}

func parseClause(part string) (clause, bool) {
	m := clauseText().FindStringSubmatch(part)
	if m == nil {
		return clause{}, false
	}
	c := clause{op: m[1], wildcard: m[3] == ".*", written: part}
	for digits := range strings.SplitSeq(m[2], ".") {
		n, _ := strconv.Atoi(digits) // of too many digits the greatest number
		c.release = append(c.release, n)
	}
	// A wildcard follows == and != only, and ~= needs something to round.
	equality := c.op == "==" || c.op == "!="
	return c, equality || !c.wildcard && (c.op != "~=" || len(c.release) > 1)
}

// satisfiable reports whether some minor version of Python 3 may satisfy all clauses, also a future one.
func satisfiable(clauses []clause) bool {
	b, newest := bound{clauses: clauses}, newestMinor
	for _, c := range clauses {
		if len(c.release) > 1 {
			newest = max(newest, min(c.release[1]+1, 999))
		}
	}
	for minor := range newest + 1 {
		if b.allows(Version{Major: 3, Minor: minor, Patch: -1}) != no {
			return true
		}
	}
	return false
}

// allows reports whether v satisfies every clause.
func (b bound) allows(v Version) verdict {
	out := yes
	for _, c := range b.clauses {
		out = min(out, c.allows(v))
	}
	return out
}

// allows compares only the release numbers, so that 3.14.0rc2 satisfies >=3.14 as it does for
// pip.
func (c clause) allows(v Version) verdict {
	if !v.Known() {
		return unknown
	}
	patches := []int{v.Patch}
	if v.Patch < 0 { // the lowest and the highest decide, and the one that the clause names
		patches = []int{0, 1 << 20}
		if len(c.release) > 2 {
			patches = append(patches, c.release[2])
		}
	}
	held := 0
	for _, v.Patch = range patches {
		if c.holds(v) {
			held++
		}
	}
	switch held {
	case 0:
		return no
	case len(patches):
		return yes
	}
	return unknown
}

func (c clause) holds(v Version) bool {
	have := [3]int{v.Major, v.Minor, v.Patch}
	numbers := max(3, len(c.release))
	if c.wildcard {
		numbers = len(c.release)
	}
	d := compare(have, c.release, numbers)
	switch c.op {
	case "==", "===":
		return d == 0
	case "!=":
		return d != 0
	case "~=":
		return d >= 0 && compare(have, c.release, len(c.release)-1) == 0
	case ">=":
		return d >= 0
	case "<":
		return d < 0
	case ">":
		return d > 0
	}
	return d <= 0
}

// compare compares the first n numbers. A missing number is 0.
func compare(have [3]int, want []int, n int) int {
	for i := range n {
		a, b := 0, 0
		if i < len(have) {
			a = have[i]
		}
		if i < len(want) {
			b = want[i]
		}
		if a != b {
			return a - b
		}
	}
	return 0
}
