package completions

import (
	"embed"
	"maps"
	"slices"
)

//go:embed pyplug.bash pyplug.fish pyplug.ps1 pyplug.zsh
var scripts embed.FS

var names = map[string]string{
	"bash":       "pyplug.bash",
	"fish":       "pyplug.fish",
	"powershell": "pyplug.ps1",
	"zsh":        "pyplug.zsh",
}

// Script returns the script for a shell. If there is none, ok is false.
func Script(shell string) (text string, ok bool) {
	b, err := scripts.ReadFile(names[shell])
	return string(b), err == nil
}

// Shells returns the sorted names of the shells that have a script.
func Shells() []string { return slices.Sorted(maps.Keys(names)) }
