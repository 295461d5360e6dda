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

// Script is the script for a shell, and whether there is one.
func Script(shell string) (string, bool) {
	name, ok := names[shell]
	if !ok {
		return "", false
	}
	text, err := scripts.ReadFile(name)
	return string(text), err == nil
}

// Shells lists the shells that have a script, in the order of the alphabet.
func Shells() []string {
	shells := make([]string, 0, len(names))
	for shell := range names {
		shells = append(shells, shell)
	}
	slices.Sort(shells)
	return shells
}
