package proc

import (
	"runtime"
	"slices"
	"strings"
)

// misleading are the variables that make a Python look like another one.
var misleading = []string{"PYTHONHOME", "PYTHONEXECUTABLE", "__PYVENV_LAUNCHER__"}

// harmless is the allow-list of a clean environment; a trailing star stands for any
// ending. It has those of Python's variables that say how text is encoded, when it is
// written, where bytecode goes and how hashes are seeded. It lacks those that change
// what is imported or run (PYTHONPATH, PYTHONSTARTUP, PYTHONNOUSERSITE), what code
// means (PYTHONOPTIMIZE, PYTHONWARNINGS), or that are for debugging.
var harmless = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM",
	"TMPDIR", "TMP", "TEMP", "XDG_*", "SSL_CERT_*", "VIRTUAL_ENV",
	"PYTHONUTF8", "PYTHONIOENCODING", "PYTHONCOERCECLOCALE",
	"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONHASHSEED",
}

// harmlessWindows are the variables without which Windows programs fail.
var harmlessWindows = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS",
	"USERNAME", "USERDOMAIN", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "COMPUTERNAME",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE", "PUBLIC",
	"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432",
	"COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432",
	"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER",
}

// Environ makes a process's environment from base, whose entries are "K=V". It drops
// PYTHONHOME, PYTHONEXECUTABLE and __PYVENV_LAUNCHER__. With clean, it keeps only an
// allow-list: what programs and Python need to run, and nothing that holds secrets or
// leads Python to other code. Then it applies each entry of set: "K=V" sets K, "K"
// alone keeps base's K, whatever K is. A later entry for a name replaces an earlier
// one, in its place. The caller owns the result.
func Environ(base []string, clean bool, set []string) []string {
	return environ(base, clean, set, runtime.GOOS == "windows")
}

func environ(base []string, clean bool, set []string, windows bool) []string {
	env := environment{at: make(map[string]int, len(base)), windows: windows}
	given := environment{at: make(map[string]int, len(base)), windows: windows}
	for _, entry := range base {
		name, ok := env.name(entry)
		if !ok {
			continue
		}
		given.put(name, entry)
		if !slices.Contains(misleading, name) && (!clean || passes(name, windows)) {
			env.put(name, entry)
		}
	}
	for _, entry := range set {
		if name, ok := env.name(entry); ok {
			env.put(name, entry)
		} else if i, ok := given.at[env.key(entry)]; ok {
			env.put(env.key(entry), given.entries[i])
		}
	}
	return env.entries
}

// environment is a list of entries, one for each name.
type environment struct {
	entries []string
	at      map[string]int
	windows bool
}

// name returns the name of an entry "K=V", or false for anything else. On Windows the
// directories of drives have names that begin with "=".
func (e *environment) name(entry string) (string, bool) {
	from := 0
	if e.windows && strings.HasPrefix(entry, "=") {
		from = 1
	}
	i := strings.IndexByte(entry[from:], '=')
	if i < 0 || from+i == 0 {
		return "", false
	}
	return e.key(entry[:from+i]), true
}

func (e *environment) key(name string) string {
	if e.windows {
		return strings.ToUpper(name)
	}
	return name
}

func (e *environment) put(name, entry string) {
	if i, ok := e.at[name]; ok {
		e.entries[i] = entry
		return
	}
	e.at[name] = len(e.entries)
	e.entries = append(e.entries, entry)
}

func passes(name string, windows bool) bool {
	lists := [][]string{harmless}
	if windows {
		lists = append(lists, harmlessWindows)
	}
	for _, list := range lists {
		for _, pattern := range list {
			prefix, open := strings.CutSuffix(pattern, "*")
			if name == pattern || open && strings.HasPrefix(name, prefix) {
				return true
			}
		}
	}
	return false
}
