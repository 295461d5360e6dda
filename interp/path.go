package interp

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// path looks for a Python on PATH.
func (f *finder) path() (Interpreter, *Attempt) {
	return f.search(f.names(), f.pathDirs(), SourcePath), nil
}

// search looks in all directories for the first name, then for the next. The first python3 precedes
// a newer python3.13 in another directory, as users who type python3 expect.
func (f *finder) search(names, dirs []string, source Source) Interpreter {
	for path, name := range programs(names, dirs) {
		found, broken := f.consider(path, source)
		why := f.unusual(found, name)
		switch {
		case broken != nil:
			f.skipBroken(broken)
		case why != "" && len(names) > 1:
			f.skip(SecondChoice, path, source, why)
		default:
			return found
		}
	}
	return Interpreter{}
}

// programs yields the paths of programs in directories, with their names: all of the first name,
// then those of the next.
func programs(names, dirs []string) iter.Seq2[string, string] {
	return func(yield func(path, name string) bool) {
		for _, name := range names {
			for _, dir := range dirs {
				path := filepath.Join(dir, exe(name))
				_, err := os.Lstat(path) // not Stat: access to the target of a store alias is denied
				if err != nil && runtime.GOOS == "windows" && filepath.Base(dir) == "shims" {
					path = filepath.Join(dir, name+batch)
					_, err = os.Lstat(path)
				}
				if err == nil && !yield(path, name) {
					return
				}
			}
		}
	}
}

// unusual returns why a Python is chosen only if it is named, or "". The names python3 and python
// are always usual.
func (f *finder) unusual(found Interpreter, name string) (why string) {
	switch {
	case name == "python3" || name == "python":
		return ""
	case strings.Contains(found.Variant, "d"):
		why = "is for debugging"
	case strings.Contains(found.Variant, "t") && !f.wanted.free:
		why = "is free-threaded"
	case found.Version.Pre != "" && !f.wanted.version.Known():
		why = "is a pre-release"
	case found.Implementation == "pypy":
		why = "is PyPy"
	default:
		return ""
	}
	return why + ", and is chosen only if it is named"
}

// newestMinor is the highest N of python3.N. Looking for one name takes a few microseconds in each
// directory of PATH.
const newestMinor = 29

// names returns the names of programs to look for: python3, python, then python3.N for each minor
// version that the requirements allow, newest first.
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
	if v := f.wanted.version; f.wanted.free {
		names = append(names, fmt.Sprintf("python%d.%dt", v.Major, v.Minor))
	}
	return names
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
		case !filepath.IsAbs(dir):
			f.skip(RelativeEntry, cmp.Or(dir, `""`), SourcePath, "a relative entry of PATH is not searched")
		default:
			absolute = append(absolute, filepath.Clean(dir)) // the paths of programs are clean, too
		}
	}
	f.dirs = slices.DeleteFunc(existing(absolute), func(dir string) bool {
		return f.NoActive && slices.ContainsFunc(f.activated(), func(a Attempt) bool { return within(a.Path, dir) })
	})
	return f.dirs
}

// batch is the ending of the shims of pyenv-win.
const batch = ".bat"

func isBatch(path string) bool { return runtime.GOOS == "windows" && strings.HasSuffix(path, batch) }

// exe returns the file name of a program.
func exe(name string) string {
	if runtime.GOOS == "windows" && !strings.HasSuffix(strings.ToLower(name), ".exe") {
		return name + ".exe"
	}
	return name
}
