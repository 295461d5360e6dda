//go:build linux || darwin

package warm

// Package strings initialises after gob and its like, if only for its name.
// These do what its functions do.

// Cut is strings.Cut.
func Cut(s, separator string) (before, after string, found bool) {
	for i := range len(s) - len(separator) + 1 {
		if s[i:i+len(separator)] == separator {
			return s[:i], s[i+len(separator):], true
		}
	}
	return s, "", false
}

// CutPrefix is strings.CutPrefix.
func CutPrefix(s, prefix string) (rest string, found bool) {
	if len(s) < len(prefix) || s[:len(prefix)] != prefix {
		return s, false
	}
	return s[len(prefix):], true
}
