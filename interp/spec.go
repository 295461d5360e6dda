package interp

import (
	"strconv"
	"strings"
)

// Requirement is one requires-python and where it was found.
type Requirement struct {
	// Spec is a specifier set as PEP 440 has it, such as ">=3.11,<3.14". An
	// empty one allows every version.
	Spec string
	// From names the place for messages, such as "plugin.py".
	From string
}

// minimum is what pyplug itself requires of every Python.
var minimum = Requirement{Spec: ">=3.8", From: "pyplug"}

// minimumBound is what [readRequirement] returns for it, written out because it is always
// needed and reading it takes time.
var minimumBound = bound{minimum, []clause{{op: ">=", release: []int{3, 8}}}}

// clause is one comparison of a specifier set.
type clause struct {
	op       string
	release  []int
	wildcard bool
	pre      string
}

// bound is a requirement whose specifier set was read.
type bound struct {
	Requirement
	clauses []clause
}

// verdict says whether a version satisfies a requirement. It is unknown when
// only the patch, which no file said, could decide.
type verdict uint8

const (
	no verdict = iota
	unknown
	yes
)

// clauseText is a clause of PEP 440. Epochs, post-releases and local versions
// are not read, because no Python has ever had one.
var clauseText = expression(
	`^(===|==|!=|~=|<=|>=|<|>)\s*v?(\d{1,6}(?:\.\d{1,6})*)(?:[.\-_]?(a|b|c|rc|alpha|beta|pre|preview|dev)[.\-_]?(\d{0,6}))?(\.\*)?$`)

// readRequirement reads a specifier set; the error is an [*Error].
func readRequirement(r Requirement) (bound, error) {
	clauses, bad := parseClauses(r.Spec)
	if bad != "" {
		return bound{}, badSpec(r, bad)
	}
	return bound{r, clauses}, nil
}

// BadClause returns the first clause of a specifier set that is not valid, or "".
func BadClause(spec string) string {
	_, bad := parseClauses(spec)
	return bad
}

// parseClauses parses a specifier set. bad is the first clause that is not valid.
func parseClauses(spec string) (clauses []clause, bad string) {
	for part := range strings.SplitSeq(spec, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		m := clauseText().FindStringSubmatch(part)
		if m == nil {
			return nil, part
		}
		c := clause{op: m[1], wildcard: m[5] != ""}
		if m[3] != "" {
			c.pre = m[3] + m[4]
		}
		for n := range strings.SplitSeq(m[2], ".") {
			i, _ := strconv.Atoi(n)
			c.release = append(c.release, i)
		}
		// PEP 440 allows a wildcard after == and != only, and ~= needs something to round.
		if c.wildcard && (c.op != "==" && c.op != "!=" || c.pre != "") || c.op == "~=" && len(c.release) < 2 {
			return nil, part
		}
		clauses = append(clauses, c)
	}
	return clauses, ""
}

// allows reports whether v satisfies every clause.
func (b bound) allows(v Version) verdict {
	out := yes
	for _, c := range b.clauses {
		out = min(out, c.allows(v))
	}
	return out
}

// allows judges the release numbers only, so that 3.14.0rc2 satisfies >=3.14 as
// it does for pip: users of a pre-release expect it to be allowed.
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
	if c.wildcard {
		return (compare(have, c.release, len(c.release)) == 0) == (c.op == "==")
	}
	d := compare(have, c.release, max(3, len(c.release)))
	switch c.op {
	case "==", "===":
		return d == 0 && (c.pre == "" || v.Pre == "" || c.pre == v.Pre)
	case "!=":
		return d != 0 || c.pre != "" && c.pre != v.Pre
	case "~=":
		return d >= 0 && compare(have, c.release, len(c.release)-1) == 0
	case ">=":
		return d >= 0
	case "<":
		return d < 0
	case ">":
		// The release of a pre-release comes after it.
		return d > 0 || c.pre != "" && d == 0
	}
	return d < 0 || c.pre == "" && d == 0 // <=
}

// compare compares the first n numbers; absent ones are 0.
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
