package daemon

import "github.com/pyplug/pyplug/runner/wire"

// ValidName tells whether a background plugin can be called so:
// [a-z0-9][a-z0-9_-]*. A name that is valid is no path and no flag.
func ValidName(name string) bool { return wire.ValidName(name) }
