package pysrc

import (
	"regexp"
	"strings"
	"sync"
)

// Cookie returns the magic cookie that a plugin's files show: a variable of the environment and the
// text that they compare it with, or a key and a value under such names. Both are empty if the files
// show none.
func Cookie(files []File) (key, value string) {
	x := cookies()
	var code strings.Builder
	for _, f := range files {
		code.WriteString(x.environ.ReplaceAllString(f.code, "«$1»"))
		code.WriteByte('\n')
	}
	text := code.String()
	values := map[string]string{} // of a name: a literal, or a variable of the environment
	for _, m := range x.assigned.FindAllStringSubmatch(text, -1) {
		if values[m[1]] == "" {
			values[m[1]] = m[2]
		}
	}
	resolve := func(operand string) string {
		name := operand[strings.LastIndexByte(operand, '.')+1:]
		if literal := strings.HasPrefix(operand, "‹") || strings.HasPrefix(operand, "«"); !literal && values[name] != "" {
			return values[name]
		}
		return operand
	}
	for _, m := range x.compared.FindAllStringSubmatch(text, -1) {
		one, other := resolve(m[1]), resolve(m[3])
		if strings.HasPrefix(other, "«") {
			one, other = other, one
		}
		variable, isVariable := strings.CutPrefix(one, "«")
		if !isVariable {
			continue
		}
		k, v := plain(resolve(strings.TrimSuffix(variable, "»"))), plain(other)
		isCookie := strings.Contains(strings.ToLower(k+m[0]), "cookie")
		if k != "" && v != "" && (isCookie || key == "" && m[2] == "!=") {
			key, value = k, v
			if isCookie {
				return key, value
			}
		}
	}
	if k, v := x.key.FindStringSubmatch(text), x.value.FindStringSubmatch(text); k != nil && v != nil {
		return k[1], v[1]
	}
	return key, value
}

// plain returns the text of a rendered literal without formats, or "".
func plain(literal string) string {
	text, ok := strings.CutPrefix(literal, "‹")
	if text = strings.TrimSuffix(text, "›"); !ok || strings.Contains(text, "%") {
		return ""
	}
	return text
}

// cookies are expressions for rendered code. The first replaces a read of the environment by its
// variable between « and ».
var cookies = sync.OnceValue(func() (x struct{ environ, assigned, compared, key, value *regexp.Regexp }) {
	const operand, read = `(‹[^›\n]*›|«[^»\n]*»|[A-Za-z_][\w.]*)`, `(‹[^›\n]*›|[A-Za-z_][\w.]*)`
	x.environ = regexp.MustCompile(`(?:\w+\.)*(?:environ(?:\.get)?|getenv)\s*[(\[]\s*` + read + `[^)\]\n]*[)\]]`)
	x.assigned = regexp.MustCompile(`\b(\w+)(?:[ \t]*:[ \t]*[\w.\[\]]+)?\s*:?=\s*(‹[^›\n]*›|«[^»\n]*»)`)
	x.compared = regexp.MustCompile(operand + `\s*(!=|==)\s*` + operand)
	named := func(names string) *regexp.Regexp {
		return regexp.MustCompile(`(?i)cookie` + names + `›?(?:[ \t]*:[ \t]*\w+\s*=|\s*[:=])\s*‹([^›%\n]+)›`)
	}
	x.key, x.value = named(`_?key`), named(`(?:_?val(?:ue)?)?`)
	return x
})
