package pyworker

// private accepts all: a user's cache directory is private by its access list on Windows.
func private(string) error { return nil }
