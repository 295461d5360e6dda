package pysrc

import (
	"cmp"
	"slices"
	"strings"
)

// Cookie returns the key and the value of the magic cookie that a plugin's files show. The files
// either compare an environment variable with a text, or assign a key and a value to names that
// contain "cookie". Both results are empty if the files show no cookie.
func Cookie(files []File) (key, value string) {
	var all strings.Builder
	for _, f := range files {
		all.WriteString(f.code)
		all.WriteByte('\n')
	}
	code := all.String()
	values := map[string]string{} // name → its literal, or its read of the environment
	for _, m := range assigned().FindAllStringSubmatch(code, -1) {
		if len(m[2]) < longestPlace {
			values[m[1]] = cmp.Or(values[m[1]], m[2])
		}
	}
	text := code
	for range 2 { // twice: the first pass may replace a name with os.environ[KEY], where KEY is another name
		text = nameOrLiteral().ReplaceAllStringFunc(text, func(operand string) string {
			return cmp.Or(values[operand[strings.LastIndexByte(operand, '.')+1:]], operand)
		})
	}
	for _, m := range compared().FindAllStringSubmatch(text, -1) {
		k, operator, v := m[1]+m[6], m[2]+m[5], m[3]+m[4]
		if strings.Contains(strings.ToLower(k), "cookie") {
			return k, v
		}
		if key == "" && operator == "!=" {
			key, value = k, v
		}
	}
	if k, v := cookieKey().FindStringSubmatch(code), cookieValue().FindStringSubmatch(code); k != nil && v != nil {
		return k[1], v[1]
	}
	return key, value
}

// SetsUpLogging reports whether a plugin's files give Python's logging a handler.
func SetsUpLogging(files []File) bool {
	return slices.ContainsFunc(files, func(f File) bool { return logHandler().MatchString(f.code) })
}

// Parts of expressions for rendered code: the start of a read of the environment, a literal, a read
// of the environment, and the text between a name and the literal assigned to it.
const (
	environ     = `(?:\w+\.)*(?:environ(?:\.get)?|getenv)\s*[(\[]`
	literalText = `‹([^›%\n]+)›`
	environRead = environ + `\s*` + literalText + `[^)\]\n]*[)\]]`
	setTo       = `›?(?:[ \t]*:[ \t]*\w+\s*=|\s*[:=])\s*` + literalText
)

var (
	assigned      = Expression(`\b(\w+)(?:[ \t]*:[ \t]*[\w.\[\]]+)?\s*:?=\s*(‹[^›\n]*›|` + environ + `[^)\]\n]*[)\]])`)
	nameOrLiteral = Expression(`‹[^›\n]*›|[A-Za-z_][\w.]*`)
	compared      = Expression(environRead + `\s*(!=|==)\s*` + literalText + `|` + literalText + `\s*(!=|==)\s*` + environRead)
	logHandler    = Expression(`\b(?:basicConfig|dictConfig|fileConfig|addHandler)\b`)
	cookieKey     = Expression(`(?i)cookie_?key` + setTo)
	cookieValue   = Expression(`(?i)cookie(?:_?val(?:ue)?)?` + setTo)
)
