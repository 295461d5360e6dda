package schema

// NoHookError says that a plugin has no such hook.
type NoHookError struct {
	Hook string
	// Known lists the hooks there are.
	Known []string
	// Why says more, such as "`os` is imported, not defined here".
	Why string
}

// Error names the hook, and why it is none.
func (e *NoHookError) Error() string {
	if e.Why != "" {
		return "no such hook: " + e.Why
	}
	return "no such hook"
}

// MissingModuleError says that a plugin imports what is not there.
type MissingModuleError struct {
	// Module is the top-level name.
	Module string
	// Text is Python's own message.
	Text string
}

// Error is Python's own message.
func (e *MissingModuleError) Error() string { return e.Text }
