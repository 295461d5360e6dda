package interp

import (
	"fmt"
	"slices"
	"strings"
)

// poetryClause matches a clause of a constraint of poetry: operator, version, wildcard.
const poetryClause = `(\^|~=|~|={0,3}|!=|<>|<=|>=|<|>)\s*(?:v?(\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?)(\.\*)?|\*)`

var (
	poetryClauses = expression(poetryClause + `\s*(?:[,\s]|$)`)
	poetryText    = expression(`^(?:` + poetryClause + `\s*(?:[,\s]\s*|$))+$`)
)

// PoetrySpec converts poetry's constraint of a Python version, such as "^3.11", to a specifier set.
// ok is false if the constraint is not valid.
func PoetrySpec(constraint string) (spec string, ok bool) {
	if strings.Count(constraint, "|") > maxClauses {
		return "", false
	}
	var alternatives []bound
	for text := range strings.SplitSeq(strings.ReplaceAll(constraint, "||", "|"), "|") {
		if spec, ok = poetrySpec(strings.TrimSpace(text)); !ok {
			return "", false
		}
		clauses, bad := parseClauses(spec)
		if bad != "" {
			return "", false
		}
		if satisfiable(slices.Concat(clauses, minimumBound.clauses)) { // such as "^3.9" in "~2.7 || ^3.9"
			alternatives = append(alternatives, bound{Requirement{Spec: spec}, clauses})
		}
	}
	switch len(alternatives) {
	case 0:
		return spec, true
	case 1:
		return alternatives[0].Spec, true
	}
	return except(alternatives), true
}

// except returns a specifier set that excludes the minor versions that no alternative allows.
func except(alternatives []bound) string {
	var excluded []string
	for minor := minimumBound.clauses[0].release[1]; minor <= newestMinor; minor++ {
		v := Version{Major: 3, Minor: minor, Patch: -1}
		if !slices.ContainsFunc(alternatives, func(b bound) bool { return b.allows(v) != no }) {
			excluded = append(excluded, fmt.Sprintf("!=%s.*", v))
		}
	}
	return strings.Join(excluded, ",")
}

// poetrySpec converts a constraint without alternatives.
func poetrySpec(text string) (spec string, ok bool) {
	var specs []string
	for _, m := range poetryClauses().FindAllStringSubmatch(text, -1) {
		op, version, wildcard := m[1], m[2], m[3]
		major, rest, _ := strings.Cut(version, ".")
		minor, _, _ := leadingNumber(rest)
		switch {
		case version == "": // * allows every version
		case op == "^", op == "~" && rest == "":
			specs = append(specs, ">="+version, fmt.Sprintf("<%d", number(major)+1))
		case op == "~":
			specs = append(specs, ">="+version, fmt.Sprintf("<%s.%d", major, minor+1))
		case op == "" || op == "=" || op == "==":
			specs = append(specs, "=="+version+wildcard)
		case op == "<>" || op == "!=":
			specs = append(specs, "!="+version+wildcard)
		default: // like poetry, ignore the wildcard
			specs = append(specs, op+version)
		}
	}
	return strings.Join(specs, ","), poetryText().MatchString(text)
}
