//go:build linux || darwin

package warm

// Package strings initialises after gob and its like, if only for its name.
// These do what its functions do.

func cut(s, separator string) (before, after string, found bool) {
	for i := range len(s) - len(separator) + 1 {
		if s[i:i+len(separator)] == separator {
			return s[:i], s[i+len(separator):], true
		}
	}
	return s, "", false
}

func cutPrefix(s, prefix string) (rest string, found bool) {
	if len(s) < len(prefix) || s[:len(prefix)] != prefix {
		return s, false
	}
	return s[len(prefix):], true
}

func hasSuffix(s, suffix string) bool {
	return len(s) >= len(suffix) && s[len(s)-len(suffix):] == suffix
}

func split(s, separator string) (parts []string) {
	for {
		part, rest, more := cut(s, separator)
		parts = append(parts, part)
		if !more {
			return parts
		}
		s = rest
	}
}
