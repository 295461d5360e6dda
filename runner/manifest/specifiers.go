package manifest

import (
	"fmt"
	"strings"
)

// specifiers parses a requires-python.
func specifiers(value any) (string, *problem) {
	s, p := text(value)
	if p == nil {
		p = checkSpecifiers(s)
	}
	return s, p
}

var (
	// specifier is a clause of a PEP 440 specifier set, as far as versions of Python
	// need it: they have no epochs, post-releases or local versions. Package interp
	// parses the same; a test compares the two.
	specifier = lazyRegexp(
		`^(===|==|!=|~=|<=|>=|<|>)\s*v?(\d{1,6}(?:\.\d{1,6})*)(?:[.\-_]?(a|b|c|rc|alpha|beta|pre|preview|dev)[.\-_]?\d{0,6})?(\.\*)?$`)
	// bareVersion and caretVersion match what people write instead of a specifier.
	bareVersion  = lazyRegexp(`^(?:=|=>|>=)?\s*v?(\d{1,6}\.\d{1,6}(?:\.\d{1,6})?)(?:\+|\.\*|\.x)?$`)
	caretVersion = lazyRegexp(`^\^\s*(\d\.\d{1,6}(?:\.\d{1,6})?)$`)
)

// checkSpecifiers returns what is wrong with a specifier set. An empty one allows
// every version.
func checkSpecifiers(spec string) *problem {
	for clause := range strings.SplitSeq(spec, ",") {
		clause = strings.TrimSpace(clause)
		if clause == "" || isSpecifier(clause) {
			continue
		}
		const wanted = `a version specifier such as ">=3.11"`
		if clause != strings.TrimSpace(spec) {
			return &problem{is: fmt.Sprintf("is %s, where %s is none, want %s", show(spec), show(clause), wanted)}
		}
		p := wrong(spec, wanted)
		if m := bareVersion().FindStringSubmatch(clause); m != nil {
			p.hint = didYouMean(">=" + m[1])
		} else if m := caretVersion().FindStringSubmatch(clause); m != nil {
			p.hint = didYouMean(">=" + m[1] + ",<" + string(m[1][0]+1))
		}
		return p
	}
	return nil
}

// isSpecifier follows PEP 440: a wildcard is allowed after == and != of a release
// only, and ~= needs at least two numbers.
func isSpecifier(clause string) bool {
	m := specifier().FindStringSubmatch(clause)
	if m == nil {
		return false
	}
	op, release, pre, wildcard := m[1], m[2], m[3], m[4]
	if wildcard != "" && (op != "==" && op != "!=" || pre != "") {
		return false
	}
	return op != "~=" || strings.Contains(release, ".")
}
