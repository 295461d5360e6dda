package manifest

import (
	"fmt"
	"strings"

	"github.com/pyplug/pyplug/interp"
)

// specifiers parses a requires-python.
func specifiers(value any) (string, *problem) {
	s, p := text(value)
	if p == nil {
		p = checkSpecifiers(s)
	}
	return s, p
}

// bareVersion and caretVersion match what people write instead of a specifier.
var (
	bareVersion  = lazyRegexp(`^(?:=|=>|>=)?\s*v?(\d{1,6}\.\d{1,6}(?:\.\d{1,6})?)(?:\+|\.\*|\.x)?$`)
	caretVersion = lazyRegexp(`^\^\s*(\d\.\d{1,6}(?:\.\d{1,6})?)$`)
)

// checkSpecifiers returns what is wrong with a specifier set. An empty one allows
// every version.
func checkSpecifiers(spec string) *problem {
	const wanted = `a version specifier such as ">=3.11"`
	clause := interp.BadClause(spec)
	if clause == "" {
		return nil
	}
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
