//go:build linux || darwin

package health

import "github.com/pyplug/pyplug/commands/warm"

func hasSuffix(s, suffix string) bool {
	return len(s) >= len(suffix) && s[len(s)-len(suffix):] == suffix
}

func split(s, separator string) (parts []string) {
	for {
		part, rest, more := warm.Cut(s, separator)
		parts = append(parts, part)
		if !more {
			return parts
		}
		s = rest
	}
}
