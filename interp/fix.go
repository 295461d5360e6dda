package interp

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// fix returns the fix for an attempt: its own Fix, else the fix for its code, else the fix for its
// source. A shim that was followed needs none.
func (f *finder) fix(a Attempt) schema.Hint {
	switch {
	case !a.Fix.IsZero() || a.Code == Shim:
		return a.Fix
	case !fixes[a.Code].IsZero():
		return fixes[a.Code]
	case a.Code == LowerPriority || a.Code == SecondChoice || a.Code == UnknownVersion:
		return schema.Hintf("use %s %s to choose it", schema.Setting("python"), quoted(a.Path))
	case a.Code == UntrustedOwner || a.Code == WorldWritable:
		return schema.Hintf("add %s %s if you trust it", schema.Setting("python"), quoted(cmp.Or(a.env, a.Path)))
	case a.Code == PinNotInstalled:
		return schema.Hintf(f.installing(a.wanted))
	case a.Code == ForOthers && f.Sync == "":
		return schema.Hintf("list the packages that the plugin needs, if any, in a PEP 723 block")
	case a.Code == ForOthers:
		return schema.Hintf("run `%s` to install the packages that the plugin needs", schema.EnvLine(f.Sync))
	case f.Sync != "" && f.owns(a.env) && bounded.Exists(filepath.Join(a.env, EnvMarker)):
		return schema.Hintf("make it again: %s", schema.EnvLine(quoted("rm", "-r", a.env)+" && "+f.Sync))
	}
	found := f.elsewhere()
	switch {
	case found.Path != "" && f.owns(a.env) && remakable(a.env) && !within(a.env, found.Path):
		return schema.Hintf("make the environment again: %s", schema.EnvLine(quoted(found.Path, "-m", "venv", "--clear", a.env)))
	case a.Source == SourceActive || a.Source == SourceConda:
		return schema.Hintf("make it again or deactivate it; %s ignores it", schema.Setting("no-active"))
	case a.Source == SourcePath || a.Source == SourceSystem:
		return schema.Hintf("put a Python %s before it on PATH", f.needs())
	case found.Path != "":
		return schema.Hintf("use %s: %s %s", found.String(), schema.Setting("python"), quoted(found.Path))
	}
	return schema.Hintf("%s, or name one with %s", f.installing(cmp.Or(a.wanted, f.wanted.name)), schema.Setting("python"))
}

// fixes lists the fixes that depend only on the code.
var fixes = map[Code]schema.Hint{
	UnrelatedActive: schema.Hintf("pass %s to use it", schema.Setting("active")),
	AmbiguousEnvs:   schema.Hintf("name one with %s, or rename it to .venv", schema.Setting("python")),
	RelativeEntry:   schema.Hintf("write an absolute path in PATH"),
	Unreadable:      schema.Hintf("get permission to read it, or name another Python with %s", schema.Setting("python")),
}

// needs describes the versions that satisfy the requirements.
func (f *finder) needs() string {
	var specs []string
	for _, b := range f.bounds[1:] { // the first is pyplug's own minimum
		specs = append(specs, strings.TrimSpace(b.Spec))
	}
	if len(specs) == 0 {
		return "3.9 or later"
	}
	return strings.Join(specs, " and ")
}

// installing returns how to install the wanted version, or any suitable version if wanted is empty.
// It suggests only version managers that are on PATH.
func (f *finder) installing(wanted string) string {
	if wanted == "" {
		return "install Python " + f.needs()
	}
	for _, m := range managers {
		if !isSpec(wanted) && f.program(m.name) != "" {
			return "install it: " + fmt.Sprintf(m.install, wanted)
		}
	}
	if isDigit(wanted[0]) || isSpec(wanted) {
		wanted = "Python " + wanted
	}
	return "install " + wanted + " from your system's packages or its website"
}

// LookPath returns the path of a program on the PATH of environ, or "". environ is shaped like
// os.Environ().
func LookPath(environ []string, program string) string {
	return newFinder(Request{Environ: environ}).program(program)
}

// program returns the path of a program on PATH, or "".
func (f *finder) program(name string) string {
	files := *f // a copy, because pathDirs records skipped entries
	for path := range programs([]string{name}, files.pathDirs()) {
		if program(path) == nil {
			return path
		}
	}
	return ""
}

// elsewhere looks for another suitable Python, on PATH or among the installed ones. It runs none.
func (f *finder) elsewhere() Interpreter {
	files := *f
	files.ask, files.tried, files.assume = nil, nil, false
	if found := files.search(files.names(), files.pathDirs(), SourcePath); found.Path != "" {
		return found
	}
	return files.anyInstalled()
}

// owns reports whether an environment belongs to the plugin because of where it is. A fix must not
// empty any other environment.
func (f *finder) owns(env string) bool {
	return env != "" && slices.ContainsFunc(f.Project.Dirs, func(dir string) bool {
		return SamePath(dir, filepath.Dir(env))
	})
}

// remakable reports whether a hint may suggest python -m venv --clear, which empties a directory.
// env must be a directory that contains a pyvenv.cfg, and must not be a link.
func remakable(env string) bool {
	info, err := os.Lstat(env)
	return env != "" && err == nil && info.IsDir() && bounded.Exists(filepath.Join(env, "pyvenv.cfg"))
}

// quoted quotes words for a shell, on one line. It writes newlines and tabs in a form that bash,
// zsh and ksh read.
func quoted(words ...string) string {
	return strings.NewReplacer("\n", `'$'\n''`, "\t", `'$'\t''`).Replace(schema.QuoteLine(words))
}
