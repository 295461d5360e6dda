package interp

// Allows reports whether a specifier set allows a version, and whether it is valid.
func Allows(spec, version string) (allowed, valid bool) {
	b, err := readRequirement(Requirement{Spec: spec})
	return err == nil && b.allows(parseVersion(version)) == yes, err == nil
}
