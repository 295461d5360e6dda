package interp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/schema"
)

// path looks for a Python on PATH.
func (f *finder) path(ctx context.Context) (Interpreter, error) {
	return f.search(ctx, f.names(), SourcePath)
}

// search looks on PATH for one name after the other. The first python3 comes before a newer
// python3.13 elsewhere, as users who type python3 expect.
func (f *finder) search(ctx context.Context, names []string, source Source) (Interpreter, error) {
	dirs := f.pathDirs()
	for _, name := range names {
		for _, dir := range dirs {
			path := filepath.Join(dir, exe(name))
			if _, err := os.Lstat(path); err != nil {
				continue
			}
			found, err := f.consider(ctx, path, source)
			if err == nil {
				why := f.secondChoice(found, name)
				if why == "" {
					return found, nil
				}
				f.skip(SecondChoice, path, source, why)
				continue
			}
			if err := f.skipError(err); err != nil {
				return Interpreter{}, err
			}
		}
	}
	return Interpreter{}, nil
}

// secondChoice returns why a Python is chosen only if there is no other, or "". It never chooses
// a free-threaded 3.13, which is experimental.
func (f *finder) secondChoice(found Interpreter, name string) (why string) {
	usual := name == "python3" || name == "python"
	switch {
	case strings.Contains(found.Variant, "d"):
		why = "is for debugging"
	case strings.Contains(found.Variant, "t") && !f.wanted.free:
		why = "is free-threaded"
	case found.Version.Pre != "" && !usual:
		why = "is a pre-release"
	case found.Implementation == "pypy" && f.wanted.implementation != "pypy" && !usual:
		why = "is PyPy"
	default:
		return ""
	}
	if free := why == "is free-threaded"; f.spare.Path == "" && (!free || found.Version.Minor > 13) {
		f.spare = found
	}
	return why + ", and is chosen only if there is no other"
}

// lastResort returns the second choice.
func (f *finder) lastResort(context.Context) (Interpreter, error) { return f.spare, nil }

// newestMinor is the highest N of python3.N. Each name costs one look per directory of PATH, a
// few microseconds.
const newestMinor = 29

// names returns the names of programs to look for: python3, python, then python3.N for each minor
// version that the requirements allow, newest first.
func (f *finder) names() []string {
	names := []string{"python3", "python"}
	if runtime.GOOS == "windows" {
		names = []string{"python", "python3"}
	}
	minors := f.minors()
	for _, minor := range minors {
		names = append(names, fmt.Sprintf("python3.%d", minor))
	}
	switch v := f.wanted.version; {
	case f.wanted.free:
		names = append(names, fmt.Sprintf("python%d.%dt", v.Major, v.Minor))
	case f.wanted.implementation == "pypy" || f.wanted.implementation == "":
		names = append(names, "pypy3")
		if v.Minor >= 0 && v.Known() {
			names = append(names, fmt.Sprintf("pypy%d.%d", v.Major, v.Minor))
		}
	}
	return names
}

// minors returns the minor versions that the requirements allow, newest first.
func (f *finder) minors() []int {
	var minors []int
	for minor := newestMinor; minor >= 0; minor-- {
		if refused, _ := f.against(Version{Major: 3, Minor: minor, Patch: -1}); refused == nil {
			minors = append(minors, minor)
		}
	}
	return minors
}

// pathDirs returns the directories of PATH, each once. It skips empty and relative entries, whose
// meaning depends on the working directory. With NoActive it also skips those of activated
// environments.
func (f *finder) pathDirs() []string {
	if f.dirs != nil {
		return f.dirs
	}
	var absolute []string
	for _, dir := range filepath.SplitList(f.vars["PATH"]) {
		switch {
		case dir == "":
			f.skip(RelativeEntry, `""`, SourcePath, "an empty entry of PATH is not searched")
		case !filepath.IsAbs(dir):
			f.skip(RelativeEntry, dir, SourcePath, "a relative entry of PATH is not searched")
		default:
			if _, err := os.Lstat(filepath.Join(dir, "python3")); errors.Is(err, fs.ErrPermission) {
				f.skip(Unreadable, dir, SourcePath, "may not be searched")
				continue
			}
			absolute = append(absolute, dir)
		}
	}
	f.dirs = slices.DeleteFunc(existing(absolute), func(dir string) bool {
		return f.NoActive && slices.ContainsFunc(f.activated(), func(a Attempt) bool { return within(a.Path, dir) })
	})
	return f.dirs
}

// exe returns the file name of a program.
func exe(name string) string {
	if runtime.GOOS == "windows" && !strings.HasSuffix(strings.ToLower(name), ".exe") {
		return name + ".exe"
	}
	return name
}

// which looks for a program on PATH. A file of that name at here is only recorded.
func (f *finder) which(ctx context.Context, name, here string, source Source) (Interpreter, error) {
	found, err := f.search(ctx, []string{name}, source)
	if err != nil || found.Path != "" {
		return found, err
	}
	if _, err := os.Stat(here); err == nil {
		f.skip(NotEnvironment, here, source, "is a file, but a name without a slash is looked up on PATH").Fix = schema.Hintf("name it by a path: ./%s", name)
	}
	if r, ok := parseRequest(name); ok && r.version.Minor >= 0 {
		f.wanted = r
		return f.version(ctx, name, r.bound(source), source)
	}
	return Interpreter{}, f.notInstalled(name, source, "is not on PATH")
}
