package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pyplug/pyplug/runner/schema"
)

// modulePrefix starts the path of a plugin that is a module: "-m json".
const modulePrefix = "-m "

// ModulePath returns the path of a module for [Resolve].
func ModulePath(module string) string { return modulePrefix + module }

// ModuleOf returns the module that a path names. It returns false for a file.
func ModuleOf(path string) (module string, ok bool) { return strings.CutPrefix(path, modulePrefix) }

// resolveModule looks for a module in from, where Python looks first. If it is not there, only
// its Python knows the entry.
func resolveModule(path, module, from string) (Plugin, error) {
	parts := strings.Split(module, ".")
	if slices.ContainsFunc(parts, func(part string) bool { return !isIdentifier(part) }) {
		e := &Error{Message: fmt.Sprintf("%q is no name of a module, want names with dots between them", module)}
		if _, err := os.Stat(filepath.Join(from, module)); err == nil {
			e.Advice = schema.DidYouMean(module)
		}
		return Plugin{}, e
	}
	p := Plugin{Path: path, Module: module, From: from, Dirs: []string{from}}
	p.ID = slug(parts[len(parts)-1])
	entry := filepath.Join(append([]string{from}, parts...)...)
	found := resolved{entry: entry}
	var err error
	if hasInit(entry) {
		if found, err = resolveDir(entry); err == nil && found.entry != entry {
			found = resolved{entry: entry, dir: entry} // its manifest is about another one
		}
	} else if info, missing := os.Stat(entry + ".py"); missing == nil && info.Mode().IsRegular() {
		found, err = resolveFile(entry+".py", info)
	} else {
		return p, nil
	}
	if err != nil {
		return Plugin{}, err
	}
	at, err := found.plugin(path)
	if err != nil {
		return Plugin{}, err
	}
	at.Module, at.From = p.Module, p.From
	if at.Manifest.ID == "" {
		at.ID = p.ID
	}
	if !slices.Contains(at.Dirs, from) {
		at.Dirs = append(at.Dirs, from)
	}
	return at, nil
}

// isIdentifier reports whether Python can import a name.
func isIdentifier(name string) bool {
	for i, c := range name {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
			return false
		}
	}
	return name != ""
}

// Located returns the plugin with the entry that Python found: a package's directory or another
// file.
func (p Plugin) Located(entry string, isPackage bool) Plugin {
	p.Entry, p.Kind = entry, File
	if isPackage {
		p.Kind = Package
	}
	return p
}

// IsOwn reports whether the plugin is a module in the directory in which Python looks first.
func (p Plugin) IsOwn() bool {
	return p.Module != "" && strings.HasPrefix(p.Entry, strings.TrimSuffix(p.From, string(filepath.Separator))+string(filepath.Separator))
}
