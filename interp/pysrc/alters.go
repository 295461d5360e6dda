package pysrc

import (
	"slices"
	"strings"
)

// AltersPath tells whether a text that [Decode] gave changes where Python finds
// modules, so that what is not on the search path may be found all the same: it
// uses sys.path or what belongs to it, puts a module into sys.modules, installs
// packages, hands itself over to another program, or imports a module that is
// there to do such things. It rather says so once too often.
func AltersPath(text string) bool {
	if slices.ContainsFunc(Imports(text), alters) {
		return true
	}
	s := newScanner(text)
	var last [2]token // before t, the nearest first
	for t := s.next(); t.kind != endOfText; t = s.next() {
		switch {
		case t.kind == name && slices.Contains(alterers, s.of(t)):
			return true
		case t.kind == name && s.is(last[0], ".") && strings.HasSuffix(s.of(last[1]), "sys"):
			if s.of(t) == "path" || s.of(t) == "modules" && s.stores() {
				return true
			}
		case t.kind == quoted && t.depth > 0 && s.installs(t):
			return true
		}
		last = [2]token{t, last[0]}
	}
	return false
}

// alterers are names that are used for nothing else.
var alterers = []string{
	"meta_path", "path_hooks", "path_importer_cache", "__path__", "addsitedir", "extend_path", "declare_namespace",
	"exec", "execfile", "execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe",
}

// importers are modules whose import, or use, makes others be found.
var importers = []string{
	"autoreload", "clr", "coconut", "cppyy", "findspark", "hy", "jpype", "macropy", "pyrootutils", "pythonnet", "pyximport",
	"rootutils", "virtualenv",
}

// alters tells whether an import takes part of the search path out of sys, or is
// of one of the importers.
func alters(i Import) bool {
	top, _, _ := strings.Cut(i.Module, ".")
	if i.Level > 0 || top != "sys" {
		return i.Level == 0 && slices.Contains(importers, top)
	}
	return slices.ContainsFunc(i.Names, func(n string) bool { return n == "path" || n == "modules" || n == "*" })
}

// stores tells whether what comes next puts something into a dictionary:
// "[key] =", ".setdefault" or ".update". The scanner stays where it is.
func (s *scanner) stores() bool {
	ahead := *s
	t := ahead.next()
	if ahead.is(t, ".") {
		t = ahead.next()
		return ahead.is(t, "setdefault") || ahead.is(t, "update") || ahead.is(t, "__setitem__")
	}
	if !ahead.is(t, "[") {
		return false
	}
	for depth := t.depth; ; {
		t = ahead.next()
		if t.kind == endOfText || t.kind == newline {
			return false
		}
		if t.depth == depth && ahead.is(t, "]") {
			break
		}
	}
	return ahead.is(ahead.next(), "=") && !ahead.is(ahead.next(), "=")
}

// installs tells whether a literal is of a command that calls pip.
func (s *scanner) installs(t token) bool {
	text := s.of(t)
	return strings.Contains(text, "pip install") || strings.Trim(text, `"'`) == "pip"
}
