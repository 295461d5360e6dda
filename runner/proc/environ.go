package proc

import (
	"maps"
	"runtime"
	"slices"
	"strings"
)

// misleading lists the variables that make a Python look like another one.
var misleading = []string{"PYTHONHOME", "PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__"}

// harmless is the allow-list of a clean environment. A trailing star matches any ending. It has the
// Python variables about text encoding, buffering, bytecode and hash seeds. It lacks variables that
// change which code is imported or run (PYTHONPATH, PYTHONSTARTUP, PYTHONNOUSERSITE) or the meaning
// of code (PYTHONOPTIMIZE, PYTHONWARNINGS), and variables for debugging.
var harmless = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM",
	"TMPDIR", "TMP", "TEMP", "XDG_*", "SSL_CERT_*", "VIRTUAL_ENV",
	"PYTHONUTF8", "PYTHONIOENCODING", "PYTHONCOERCECLOCALE",
	"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONHASHSEED",
}

// harmlessWindows lists the variables that Windows programs need.
var harmlessWindows = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS",
	"USERNAME", "USERDOMAIN", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "COMPUTERNAME",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE", "PUBLIC",
	"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
	"COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432",
	"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER",
}

// Environ returns a process's environment made from base, whose entries are "K=V". It drops
// PYTHONHOME, PYTHONEXECUTABLE and __PYVENV_LAUNCHER__. If clean is set, it keeps only an
// allow-list of variables that programs and Python need. None of them contains secrets or makes
// Python run other code. Then it applies each entry of set: "K=V" sets K, and "K" keeps base's K.
// The last entry for a name counts. The caller owns the result, which is sorted.
func Environ(base []string, clean bool, set []string) []string {
	return environ(base, clean, set, runtime.GOOS == "windows")
}

func environ(base []string, clean bool, set []string, windows bool) []string {
	given, env := map[string]string{}, map[string]string{} // entries by name
	for _, entry := range base {
		name, ok := variable(entry, windows)
		if !ok {
			continue
		}
		given[name] = entry
		if !slices.Contains(misleading, name) && (!clean || passes(name, windows)) {
			env[name] = entry
		}
	}
	for _, entry := range set {
		name, ok := variable(entry, windows)
		if !ok {
			if entry, ok = given[name]; !ok {
				continue
			}
		}
		env[name] = entry
	}
	return slices.Sorted(maps.Values(env))
}

// Without returns an environment without the variables with these names.
func Without(env []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}

// variable returns the name of an entry, and whether the entry is "K=V". On Windows the directories
// of drives have names that begin with "=", and case does not matter.
func variable(entry string, windows bool) (name string, ok bool) {
	from := 0
	if windows {
		entry = strings.ToUpper(entry)
		from = len(entry) - len(strings.TrimPrefix(entry, "="))
	}
	name, _, ok = strings.Cut(entry[from:], "=")
	name = entry[:from] + name
	return name, ok && name != ""
}

func passes(name string, windows bool) bool {
	allowed := harmless
	if windows {
		allowed = slices.Concat(harmless, harmlessWindows)
	}
	return slices.ContainsFunc(allowed, func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return name == pattern || open && strings.HasPrefix(name, prefix)
	})
}
