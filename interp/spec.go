package interp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pyplug/pyplug/runner/schema"
)

// Requirement is a requires-python and its place.
type Requirement struct {
	// Spec is a specifier set (PEP 440), such as ">=3.11,<3.14". "" allows every version.
	Spec string `json:"spec"`
	// From names the place for messages, such as "plugin.py".
	From string `json:"from"`
}

// Text returns the requirement for a message: ">=3.11 (plugin.py)".
func (r Requirement) Text() string { return r.Spec + " (" + r.From + ")" }

// JoinRequirements formats requirements as ">=3.11 (plugin.py) and <3.10 (pyproject.toml)".
func JoinRequirements(all []Requirement) string {
	words := make([]string, len(all))
	for i, r := range all {
		words[i] = r.Text()
	}
	return strings.Join(words, " and ")
}

// minimum is the requirement of pyplug itself.
var minimum = Requirement{Spec: ">=3.9", From: "pyplug"}

// minimumBound is minimum as [readRequirement] returns it. Every start needs it, and parsing
// takes time.
var minimumBound = bound{minimum, []clause{{op: ">=", release: []int{3, 9}, written: ">=3.9"}}}

// clause is one comparison of a specifier set.
type clause struct {
	op       string
	epoch    int
	release  []int
	wildcard bool
	// rank orders the version among those with the same release numbers: -1 for a pre-release, 0
	// for the release, 1 for a post-release.
	rank  int
	pre   string // such as "rc2", normalized
	local bool   // it has a local label, which no Python has
	text  string // the version as written, for ===

	written string // the whole clause
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

// verdict says whether a version satisfies a requirement. It is unknown if that depends on the
// patch number, and no file states that number.
type verdict uint8

const (
	no verdict = iota
	unknown
	yes
)

// clauseText matches a clause as the package "packaging" reads it. parseClause checks what each
// operator allows.
var clauseText = expression(`(?i)^(~=|===|==|!=|<=|>=|<|>)\s*` +
	`v?(?:(\d+)!)?(\d+(?:\.\d+)*)` + // epoch and release
	`(?:(\.\*)|` +
	`(?:[._-]?(alpha|beta|preview|pre|a|b|c|rc)[._-]?(\d*))?` +
	`((?:-\d+)|(?:[._-]?(?:post|rev|r)[._-]?\d*))?` +
	`([._-]?dev[._-]?\d*)?` +
	`(\+[a-z0-9]+(?:[._-][a-z0-9]+)*)?)$`)

// arbitraryText matches a clause with ===, which compares texts.
var arbitraryText = expression(`^===\s*([^\s;)]*)$`)

// readRequirement parses a specifier set.
func readRequirement(r Requirement) (bound, *Attempt) {
	clauses, bad := parseClauses(r.Spec)
	if bad != "" {
		broken := problem(BadRequirement, "", "python version of %s: %q is not a version specifier, expected one such as %q",
			r.From, bad, ">=3.11")
		broken.Fix = schema.Hintf("correct the version that %s asks for", r.From)
		return bound{}, broken
	}
	return bound{r, clauses}, nil
}

// BadClause returns the first invalid clause of a specifier set, or "".
func BadClause(spec string) string {
	_, bad := parseClauses(spec)
	return bad
}

// maxClauses bounds the clauses of a specifier set.
const maxClauses = 100

// parseClauses parses a specifier set. bad is the first invalid clause.
func parseClauses(spec string) (clauses []clause, bad string) {
	for part := range strings.SplitSeq(spec, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		c, ok := parseClause(part)
		if len(clauses) == maxClauses {
			part, ok = fmt.Sprintf("%s, clause %d of at most %d,", part, maxClauses+1, maxClauses), false
		}
		if !ok {
			return nil, part
		}
		c.written = part
		clauses = append(clauses, c)
	}
	return clauses, ""
}

func parseClause(part string) (clause, bool) {
	if m := arbitraryText().FindStringSubmatch(part); m != nil {
		return clause{op: "===", text: m[1]}, true
	}
	m := clauseText().FindStringSubmatch(part)
	if m == nil {
		return clause{}, false
	}
	c := clause{op: m[1], epoch: number(m[2]), wildcard: m[4] != "", local: m[9] != ""}
	for n := range strings.SplitSeq(m[3], ".") {
		c.release = append(c.release, number(n))
	}
	switch {
	case m[5] != "":
		c.rank, c.pre = -1, preTags[strings.ToLower(m[5])]+strconv.Itoa(number(m[6]))
	case m[7] != "":
		c.rank = 1
	case m[8] != "":
		c.rank = -1
	}
	// Only == and != take a wildcard or a local label, and ~= needs at least two numbers.
	equality := c.op == "==" || c.op == "!="
	return c, equality || !c.wildcard && !c.local && (c.op != "~=" || len(c.release) > 1)
}

// number parses digits. All numbers higher than any version become one large number.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // Atoi returns the highest int if the number is out of range
	return min(n, 1<<30)
}

// satisfiable reports whether some minor version of Python 3, which may be a future one, can
// satisfy all clauses.
func satisfiable(clauses []clause) bool {
	b, newest := bound{clauses: clauses}, newestMinor
	for _, c := range clauses {
		if len(c.release) > 1 {
			newest = max(newest, min(c.release[1]+1, 999))
		}
		named := parseVersion(strings.TrimLeft(c.written, "~=!<> "))
		if named.Known() && b.allows(named) == yes {
			return true
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
	if v.Patch < 0 { // try the lowest patch, the highest, and the one in the clause
		patches = []int{0, 1 << 20}
		if len(c.release) > 2 {
			patches = append(patches, c.release[2])
		}
		if named := parseVersion(c.text); named.Patch >= 0 {
			patches = append(patches, named.Patch)
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
	if c.op == "===" {
		release := Version{Major: v.Major, Minor: v.Minor, Patch: v.Patch}.String()
		return c.text == release || v.Pre != "" && strings.EqualFold(c.text, v.String())
	}
	if c.wildcard {
		return (c.epoch == 0 && compare(have, c.release, len(c.release)) == 0) == (c.op == "==")
	}
	d := compare(have, c.release, max(3, len(c.release)))
	if d == 0 {
		d = -c.rank
	}
	if c.epoch > 0 {
		d = -1
	}
	equal := d == 0 && !c.local
	if v.Pre != "" && c.pre == v.Pre && compare(have, c.release, max(3, len(c.release))) == 0 {
		equal = true // the clause names this pre-release
	}
	switch c.op {
	case "==":
		return equal
	case "!=":
		return !equal
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
