package pysrc

import (
	"cmp"
	"regexp"
	"strings"
	"sync"
)

// Cookie returns the key and the value of the magic cookie that a plugin's files show. The files
// either compare a variable of the environment with a text, or assign a key and a value to names
// with "cookie". Both results are empty if the files show no cookie.
func Cookie(files []File) (key, value string) {
	x := cookies()
	var all strings.Builder
	for _, f := range files {
		all.WriteString(f.code)
		all.WriteByte('\n')
	}
	code := all.String()
	values := map[string]string{} // of a name: a literal, or a read of the environment
	for _, m := range x.assigned.FindAllStringSubmatch(code, -1) {
		if len(m[2]) < longestPlace {
			values[m[1]] = cmp.Or(values[m[1]], m[2])
		}
	}
	text := code
	for range 2 { // a read of the environment may have its variable in a name
		text = x.operand.ReplaceAllStringFunc(text, func(operand string) string {
			return cmp.Or(values[operand[strings.LastIndexByte(operand, '.')+1:]], operand)
		})
	}
	for _, m := range x.compared.FindAllStringSubmatch(text, -1) {
		k, operator, v := m[1]+m[6], m[2]+m[5], m[3]+m[4]
		if strings.Contains(strings.ToLower(k), "cookie") {
			return k, v
		}
		if key == "" && operator == "!=" {
			key, value = k, v
		}
	}
	if k, v := x.key.FindStringSubmatch(code), x.value.FindStringSubmatch(code); k != nil && v != nil {
		return k[1], v[1]
	}
	return key, value
}

// cookies are expressions for rendered code.
var cookies = sync.OnceValue(func() (x struct{ assigned, operand, compared, key, value *regexp.Regexp }) {
	const environ, literal = `(?:\w+\.)*(?:environ(?:\.get)?|getenv)\s*[(\[]`, `‹([^›%\n]+)›`
	const read = environ + `\s*` + literal + `[^)\]\n]*[)\]]`
	x.assigned = regexp.MustCompile(`\b(\w+)(?:[ \t]*:[ \t]*[\w.\[\]]+)?\s*:?=\s*(‹[^›\n]*›|` + environ + `[^)\]\n]*[)\]])`)
	x.operand = regexp.MustCompile(`‹[^›\n]*›|[A-Za-z_][\w.]*`)
	x.compared = regexp.MustCompile(read + `\s*(!=|==)\s*` + literal + `|` + literal + `\s*(!=|==)\s*` + read)
	named := func(names string) *regexp.Regexp {
		return regexp.MustCompile(`(?i)cookie` + names + `›?(?:[ \t]*:[ \t]*\w+\s*=|\s*[:=])\s*` + literal)
	}
	x.key, x.value = named(`_?key`), named(`(?:_?val(?:ue)?)?`)
	return x
})
