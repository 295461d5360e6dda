//go:build !windows

package interp

// readReparse reads nothing: other systems have no reparse points.
func readReparse(string) []byte { return nil }
