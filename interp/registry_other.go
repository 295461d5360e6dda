//go:build !windows

package interp

// readRegistry lists nothing: other systems have no registry.
func readRegistry() []registration { return nil }
