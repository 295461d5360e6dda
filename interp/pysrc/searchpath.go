package pysrc

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// searchPath matches what adds directories to Python's search path, up to the first of them,
// and an assignment of a name.
var searchPath = sync.OnceValue(func() (x struct{ adds, assigns *regexp.Regexp }) {
	x.adds = regexp.MustCompile(`\b(?:sys\.path\s*(?:\.\s*(?:append\s*\(|insert\s*\([^,]*,|extend\s*\(\s*[\[(])|(?:\[[^\]]*\]\s*)?\+?=\s*\[)|site\.addsitedir\s*\()`)
	x.assigns = regexp.MustCompile(`^\s*(\w+)\s*(?::[^=]*)?=([^=].*)`)
	return x
})

// SearchPath returns the directories that the file adds to Python's search path by way of its own
// place, __file__, as far as simple expressions of os.path and pathlib tell.
func (f File) SearchPath() (dirs []string) {
	if !strings.Contains(f.code, "__file__") || !strings.Contains(f.code, "sys.path") && !strings.Contains(f.code, "addsitedir") {
		return nil
	}
	names := map[string]string{"__file__": filepath.ToSlash(f.Path), "os.pardir": "..", "os.path.pardir": "..", "os.curdir": ".", "os.sep": "/"}
	for line := range strings.Lines(f.code) {
		x := searchPath()
		if at := x.adds.FindStringIndex(line); at != nil {
			e := expression{text: line[at[1]:], names: names}
			for _, dir := range e.list() {
				if dir = filepath.FromSlash(path.Clean(dir)); filepath.IsAbs(dir) && !slices.Contains(dirs, dir) {
					dirs = append(dirs, dir)
				}
			}
		} else if m := x.assigns.FindStringSubmatch(line); m != nil {
			e := expression{text: m[2], names: names}
			if value, ok := e.sum(); ok && strings.TrimSpace(e.text) == "" {
				names[m[1]] = value
			}
		}
	}
	return dirs
}

// expression evaluates rendered code whose value is a path, with slashes. It consumes text. depth
// bounds nesting.
type expression struct {
	text  string
	names map[string]string
	depth int
}

// next consumes a symbol, if it is the next one.
func (e *expression) next(symbol string) bool {
	e.text = strings.TrimLeft(e.text, " \t")
	rest, ok := strings.CutPrefix(e.text, symbol)
	e.text = rest
	return ok
}

// list evaluates expressions with commas between them, up to the first that is not known.
func (e *expression) list() (values []string) {
	for {
		value, ok := e.sum()
		if !ok {
			return values
		}
		if values = append(values, value); !e.next(",") {
			return values
		}
	}
}

// sum evaluates operands with / or + between them.
func (e *expression) sum() (value string, ok bool) {
	if e.depth++; e.depth > 50 {
		return "", false
	}
	defer func() { e.depth-- }()
	for value, ok = e.operand(); ok; {
		operand := ""
		switch {
		case e.next("/"):
			if operand, ok = e.operand(); ok {
				value = joinPath(value, operand)
			}
		case e.next("+"):
			operand, ok = e.operand()
			value += operand
		default:
			return value, true
		}
	}
	return "", false
}

// operand evaluates a literal, a name or a call, with the attributes behind it.
func (e *expression) operand() (value string, ok bool) {
	switch {
	case e.next("‹"):
		value, e.text, ok = strings.Cut(e.text, "›")
		ok = ok && !strings.Contains(value, "%") // a format
	case e.next("("):
		value, ok = e.sum()
		ok = ok && e.next(")")
	default:
		end := 0
		for end < len(e.text) && (isWord(e.text[end]) || e.text[end] == '.') {
			end++
		}
		name := e.text[:end]
		if e.text = e.text[end:]; e.next("(") {
			value, ok = call(name[strings.LastIndexByte(name, '.')+1:], e.list())
			ok = ok && e.next(")")
			break
		}
		return e.attributes(name)
	}
	for ok && e.next(".") {
		end := 0
		for end < len(e.text) && isWord(e.text[end]) {
			end++
		}
		name := e.text[:end]
		e.text = e.text[end:]
		value, ok = e.attribute(value, name)
	}
	return value, ok
}

// attributes evaluates a name of a known value with attributes, such as "HERE.parent".
func (e *expression) attributes(name string) (value string, ok bool) {
	if value, ok = e.names[name]; ok {
		return value, true
	}
	first, rest, _ := strings.Cut(name, ".")
	value, ok = e.names[first]
	for _, attribute := range strings.Split(rest, ".") {
		if ok {
			value, ok = e.attribute(value, attribute)
		}
	}
	return value, ok
}

// attribute evaluates an attribute or a method of a path.
func (e *expression) attribute(value, name string) (string, bool) {
	switch {
	case name == "parent":
		return path.Dir(value), true
	case name == "parents" && e.next("["):
		number, rest, ok := strings.Cut(e.text, "]")
		n, err := strconv.Atoi(strings.TrimSpace(number))
		for e.text = rest; n >= 0 && ok && err == nil; n-- {
			value = path.Dir(value)
		}
		return value, ok && err == nil
	case e.next("("):
		values := append([]string{value}, e.list()...)
		value, ok := call(name, values)
		return value, ok && e.next(")")
	}
	return "", false
}

// call evaluates a function of os.path or pathlib, or a method whose first argument is its path.
func call(name string, args []string) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	switch name {
	case "dirname":
		at := strings.LastIndexByte(args[0], '/')
		return args[0][:max(at, 0)], at >= 0
	case "abspath", "realpath", "normpath", "resolve", "absolute":
		return path.Clean(args[0]), true
	case "str", "fspath", "as_posix":
		return args[0], true
	case "join", "joinpath", "Path", "PurePath":
		return joinPath(args[0], args[1:]...), true
	}
	return "", false
}

// joinPath joins paths as Python does, without removing any "..".
func joinPath(first string, more ...string) string {
	for _, next := range more {
		if path.IsAbs(next) {
			first = next
		} else {
			first = strings.TrimRight(first, "/") + "/" + next
		}
	}
	return first
}
