package completions

import (
	"embed"
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
	name, ok := names[shell]
	if !ok {
		return "", false
	}
	b, err := scripts.ReadFile(name)
	return string(b), err == nil
}

// Shells returns the sorted names of the shells that have a script.
func Shells() []string {
	shells := make([]string, 0, len(names))
	for shell := range names {
		shells = append(shells, shell)
	}
	slices.Sort(shells)
	return shells
}
