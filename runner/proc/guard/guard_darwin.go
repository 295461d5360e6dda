package guard

// killTagged finds nothing, because macOS does not reliably show the environment of another
// process. Therefore pyplug reports the groups there.
func killTagged(string, map[string]bool) bool { return false }
