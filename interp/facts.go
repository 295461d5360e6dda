package interp

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pyplug/pyplug/interp/bounded"
	"github.com/pyplug/pyplug/runner/schema"
)

// Facts contains what files say about a Python. Its JSON is public.
type Facts struct {
	// Path is the path of the Interpreter.
	Path schema.Path `json:"path"`
	Interpreter
	// Real is the program that the links lead to.
	Real schema.Path `json:"real"`
	// Kind is "venv", "conda", "managed" (by a version manager), "system" or "installed".
	Kind string `json:"kind"`
	// Manager names the program that installed it, such as "pyenv" or "system". It may be empty.
	Manager string `json:"manager,omitempty"`
	// Prefix is sys.prefix, Base is sys.base_prefix.
	Prefix schema.Path `json:"prefix,omitempty"`
	Base   schema.Path `json:"base,omitempty"`
	// Packages lists the directories of installed packages, in Python's order.
	Packages []schema.Path `json:"packages"`
	// SystemPackages reports whether an environment also has the packages of its base.
	SystemPackages bool `json:"system_packages,omitempty"`
	// Notes describe oddities of a Python that works.
	Notes []string `json:"notes,omitempty"`
	// ExternallyManaged reports whether pip may not install into it (PEP 668).
	ExternallyManaged bool `json:"externally_managed,omitempty"`
}

// FactsOf reads what files say about i. environ is shaped like os.Environ().
func FactsOf(i Interpreter, environ []string) Facts {
	f := newFinder(Request{Environ: environ})
	real := bounded.Real(i.Path)
	base := prefixOf(real)
	prefix := base
	facts := Facts{Path: schema.Path(i.Path), Interpreter: i, Real: schema.Path(real), Kind: "installed"}
	facts.Packages = []schema.Path{}
	if cfg, env := findConfig(i.Path); env != "" {
		prefix, facts.SystemPackages = env, cfg.system
		if home := bounded.Real(cfg.home); cfg.home != "" && bounded.Exists(home) {
			base = prefixOf(filepath.Join(home, "python"))
		} else if cfg.home != "" {
			facts.Notes = []string{"the Python that it was made from is gone: there is no " + cfg.home}
		}
	} else if _, isShim := shimAt(i.Path, real); isShim { // the location of a shim says nothing about the Python
		facts.Notes = []string{"it is a shim: the Python that it starts is unknown until it runs"}
		return facts
	} else if lost := prefixOf(i.Path); lost != base && bounded.Exists(filepath.Join(lost, "lib", i.libName(), "site-packages")) {
		facts.Notes = []string{"pyvenv.cfg is missing: Python starts as the one in " + base + ", without the packages of " + lost}
	}
	facts.Prefix, facts.Base = schema.Path(prefix), schema.Path(base)
	if i.Version.Known() {
		for _, dir := range existing(i.sites(f.vars)) {
			facts.Packages = append(facts.Packages, schema.Path(dir))
		}
		// The marker of a base does not apply to its environments: pip may install into them.
		lib := filepath.Join(base, "lib", i.libName())
		facts.ExternallyManaged = i.Env == "" && bounded.Exists(filepath.Join(lib, "EXTERNALLY-MANAGED"))
	}
	facts.Manager = f.managerOf(base, real, facts.ExternallyManaged)
	switch {
	case i.Env != "":
		facts.Kind = "venv"
	case facts.Manager == "conda" || facts.Manager == "system":
		facts.Kind = facts.Manager
	case facts.Manager != "":
		facts.Kind = "managed"
	}
	return facts
}

// prefixOf returns the prefix of the installation of a program. The program's links must be
// resolved.
func prefixOf(program string) string {
	dir := filepath.Dir(program)
	if name := filepath.Base(dir); runtime.GOOS == "windows" && !strings.EqualFold(name, "Scripts") && name != "bin" {
		return dir
	}
	return filepath.Dir(dir)
}

// libName returns the name of the directory of the standard library.
func (i Interpreter) libName() string {
	name := "python"
	if i.Implementation == "pypy" {
		name = "pypy"
	}
	name += i.Version.minor().String()
	if strings.Contains(i.Variant, "t") {
		name += "t"
	}
	return name
}

// variant returns the letters after the version in a program's name. If there are none, the name
// of the standard library's directory decides.
func variant(real string, v Version) string {
	name := strings.TrimSuffix(filepath.Base(real), ".exe")
	if letters := name[len(strings.TrimRight(name, "td")):]; letters != "" && len(letters) < 3 {
		return letters
	}
	lib := filepath.Join(prefixOf(real), "lib", "python"+v.minor().String())
	if v.Known() && !bounded.Exists(filepath.Join(lib, "os.py")) && bounded.Exists(filepath.Join(lib+"t", "os.py")) {
		return "t"
	}
	return ""
}

// managerOf returns the name of the program that installed a Python, or "". base is the Python's
// base prefix, and real its resolved path.
func (f *finder) managerOf(base, real string, externallyManaged bool) string {
	if bounded.Exists(filepath.Join(base, "conda-meta")) {
		return "conda"
	}
	for _, m := range managers {
		if dir := m.installs(f); dir != "" && within(bounded.Real(dir), real) {
			return m.name
		}
	}
	if base == "/usr" || base == "/" || externallyManaged {
		return "system"
	}
	return ""
}

// within reports whether path is dir or below it. Both must be clean.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
