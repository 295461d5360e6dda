package pysrc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Libraries reads the files of installed packages that imports name, and then those of
// the same packages that these import. The former come first, so that they are read
// whatever else a package has. gRPC's own packages are left out.
func Libraries(dirs []string, imports []Import, most Limits) []File {
	var named []string
	for _, imp := range imports {
		if !imp.isGRPC() {
			named = append(named, imp.find(dirs, "")...)
		}
	}
	return walk(named, most, func(path string, imp Import) []string {
		dir := filepath.Dir(path)
		if top, _, _ := strings.Cut(imp.Module, "."); imp.Level > 0 || slices.Contains(strings.Split(dir, string(filepath.Separator)), top) {
			return imp.find(dirs, dir)
		}
		return nil
	})
}

// isGRPC reports whether the import is of gRPC's own packages.
func (i Import) isGRPC() bool {
	return strings.HasPrefix(i.Module, "grpc") || i.Module == "google" || strings.HasPrefix(i.Module, "google.protobuf")
}

// Locate finds a module by its dotted name in directories of a search path, or else
// the innermost package above it that is there: the directory of a package, or a *.py
// file. It is empty if nothing of the module is found.
func Locate(dirs []string, module string) string {
	for ; module != ""; module = module[:max(0, strings.LastIndexByte(module, '.'))] {
		for _, dir := range dirs {
			path := filepath.Join(dir, strings.ReplaceAll(module, ".", string(filepath.Separator)))
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				return path
			}
			if info, err := os.Stat(path + ".py"); err == nil && info.Mode().IsRegular() {
				return path + ".py"
			}
		}
	}
	return ""
}
