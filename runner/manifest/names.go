package manifest

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// expression compiles a regular expression when it is first needed. Most runs
// need none, and all of them would take longer than the rest of a start.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// identifier reads an id, which a name is made from.
func identifier(to *string) setter {
	return func(value any) *problem {
		if p := text(to)(value); p != nil {
			return p
		}
		if !strings.ContainsFunc(*to, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
			return &problem{seen: show(value), wanted: "a name with a letter or digit in it"}
		}
		return nil
	}
}

// specifiers reads a requires-python.
func specifiers(to *string) setter {
	return func(value any) *problem {
		if p := text(to)(value); p != nil {
			return p
		}
		return checkSpecifiers(*to)
	}
}

// specifier is a clause of a specifier set as PEP 440 has it, as far as versions
// of Python go: epochs, post-releases and local versions they never had. The
// room interp reads the same; a test of this one holds the two together.
var specifier = expression(
	`^(===|==|!=|~=|<=|>=|<|>)\s*v?(\d{1,6}(?:\.\d{1,6})*)(?:[.\-_]?(a|b|c|rc|alpha|beta|pre|preview|dev)[.\-_]?\d{0,6})?(\.\*)?$`)

// bare and caret match what people write in place of a specifier.
var (
	bare  = expression(`^(?:=|=>|>=)?\s*v?(\d{1,6}\.\d{1,6}(?:\.\d{1,6})?)(?:\+|\.\*|\.x)?$`)
	caret = expression(`^\^\s*(\d\.\d{1,6}(?:\.\d{1,6})?)$`)
)

// checkSpecifiers tells what is wrong with a specifier set. An empty one allows
// every version.
func checkSpecifiers(spec string) *problem {
	for part := range strings.SplitSeq(spec, ",") {
		part = strings.TrimSpace(part)
		if part == "" || isSpecifier(part) {
			continue
		}
		p := &problem{seen: show(spec), wanted: `a version specifier such as ">=3.11"`}
		if part != strings.TrimSpace(spec) {
			p.seen += ", where " + show(part) + " is none"
			return p
		}
		if m := bare().FindStringSubmatch(part); m != nil {
			p.suggest = ">=" + m[1]
		} else if m := caret().FindStringSubmatch(part); m != nil {
			p.suggest = ">=" + m[1] + ",<" + string(m[1][0]+1)
		}
		return p
	}
	return nil
}

// isSpecifier tells whether clause can be read. PEP 440 allows a wildcard after
// == and != of a release only, and ~= needs something to round.
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
