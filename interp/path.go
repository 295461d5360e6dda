package interp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// newestMinor is the highest python3.N that is looked for by name. Each costs
// one look per directory of PATH, a few microseconds.
const newestMinor = 29

// path searches PATH for any suitable Python.
func (f *finder) path(ctx context.Context) (Interpreter, error) {
	return f.search(ctx, SourcePath, false)
}

// onPath looks on PATH for a version that an explicit source asks for.
func (f *finder) onPath(ctx context.Context, value, spec string, source Source) (Interpreter, error) {
	wanted, err := readRequirement(Requirement{Spec: spec, From: string(source)})
	if err != nil {
		return Interpreter{}, err
	}
	f.lookup = true
	f.bounds = append(f.bounds, wanted)
	if impossible(f.bounds) {
		return Interpreter{}, conflict(append(slices.Clone(f.Requires), wanted.Requirement))
	}
	found, err := f.search(ctx, source, true)
	if err == nil && found.Path == "" {
		err = notFound(value, source, f.Requires, f.tried)
	}
	return found, err
}

// which searches PATH for a program by name, as a shell does: the first that can be
// started decides. A file of that name at here is not that program, but Tried names it.
func (f *finder) which(ctx context.Context, name, here string, source Source) (Interpreter, error) {
	for _, dir := range f.pathDirs() {
		path := filepath.Join(dir, exe(name))
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		found, err := f.consider(ctx, path, source, true)
		if broken, ok := err.(*Error); ok && slices.Contains(shellPasses, broken.Reason) {
			_ = f.skipError(path, source, broken) // which it is about
			continue
		}
		return found, err
	}
	if _, err := os.Stat(here); err == nil {
		f.skip(here, source, "is a file, but a name without a slash is looked up on PATH")
	}
	return Interpreter{}, notFound(name, source, f.Requires, f.tried)
}

// shellPasses are the reasons for which a shell looks further along PATH, and a
// shim that leads nowhere.
var shellPasses = []string{ReasonBrokenLink, ReasonLinkLoop, ReasonMissing, ReasonDirectory, ReasonNotExecutable, ReasonShim}

// search looks on PATH name by name, so that the first python3 is preferred to
// a newer python3.13 elsewhere, as users who type python3 expect.
func (f *finder) search(ctx context.Context, source Source, loose bool) (Interpreter, error) {
	dirs := f.pathDirs()
	for _, name := range f.names() {
		for _, dir := range dirs {
			path := filepath.Join(dir, exe(name))
			if _, err := os.Lstat(path); err != nil {
				continue
			}
			found, err := f.consider(ctx, path, source, loose)
			if err == nil {
				return found, nil
			}
			if err := f.skipError(path, source, err); err != nil {
				return Interpreter{}, err
			}
		}
	}
	return Interpreter{}, nil
}

// names are the programs looked for: python3, python, then python3.N for each
// minor that the requirements leave open, newest first.
func (f *finder) names() []string {
	names := []string{"python3", "python"}
	if runtime.GOOS == "windows" {
		names = []string{"python", "python3"}
	}
	for minor := newestMinor; minor >= 0; minor-- {
		if refused, _ := f.against(Version{Major: 3, Minor: minor, Patch: -1}); refused == nil {
			names = append(names, fmt.Sprintf("python3.%d", minor))
		}
	}
	return names
}

// pathDirs are the directories of PATH that may be searched, each once. Empty
// and relative entries are not: what they hold depends on where one stands.
func (f *finder) pathDirs() []string {
	var dirs []string
	var seen []os.FileInfo
	for _, dir := range filepath.SplitList(f.vars["PATH"]) {
		if !filepath.IsAbs(dir) {
			f.skipEntry(dir)
			continue
		}
		info, err := os.Stat(dir)
		same := func(other os.FileInfo) bool { return os.SameFile(info, other) }
		if err != nil || !info.IsDir() || slices.ContainsFunc(seen, same) {
			continue
		}
		if runtime.GOOS == "windows" && strings.EqualFold(filepath.Base(dir), "WindowsApps") {
			f.skip(dir, SourcePath, "holds aliases of the store, which cannot be told apart without running them")
			continue
		}
		seen = append(seen, info)
		dirs = append(dirs, dir)
	}
	return dirs
}

// skipEntry records an entry of PATH that is not absolute.
func (f *finder) skipEntry(entry string) {
	reason := "a relative entry of PATH is not searched"
	if entry == "" {
		entry, reason = `""`, "an empty entry of PATH is not searched"
	}
	attempt := Attempt{Path: entry, Source: SourcePath, Reason: reason}
	if !slices.Contains(f.tried, attempt) {
		f.tried = append(f.tried, attempt)
	}
}

// exe is the file name of a program.
func exe(name string) string {
	if runtime.GOOS == "windows" && !strings.HasSuffix(strings.ToLower(name), ".exe") {
		return name + ".exe"
	}
	return name
}
