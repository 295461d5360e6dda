package pysrc

import (
	"os"
	"path/filepath"
	"strings"
)

// Bounds of [Installed].
const (
	mostInstalled = 80
	mostOfOne     = 20
)

// Installed lists the *_pb2.py files of the packages that imports name, found in the
// directories of a search path: at most 80, and 20 of one package. gRPC's own packages
// are left out.
func Installed(dirs []string, imports []Import) []string {
	const ending = "_pb2.py"
	var found []string
	for _, imp := range imports {
		if imp.isGRPC() {
			continue
		}
		path := Locate(dirs, imp.Module)
		var files []string
		if entries, err := os.ReadDir(path); err == nil && path != "" {
			for _, entry := range entries {
				if strings.HasSuffix(entry.Name(), ending) {
					files = append(files, filepath.Join(path, entry.Name()))
				}
			}
		} else if strings.HasSuffix(path, ending) {
			files = append(files, path)
		}
		found = append(found, files[:min(len(files), mostOfOne)]...)
	}
	return found[:min(len(found), mostInstalled)]
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
