// Package check reports whether a plugin will work, and if not, why.
//
//  1. [Run] goes through the stages of one table in their order. Each looks at one thing,
//     and returns what it saw, what it found and how long it took.
//  2. A stage that needs another one is skipped if that failed or was skipped.
//  3. "plugin" and "interpreter" read files. "source" runs source.py in the plugin's own
//     Python, which compiles the plugin's files without running any of it.
//  4. "launch" starts the plugin; "handshake", "connect" and "health" report parts of that
//     start. "hooks" and "stop" ask the running plugin.
//  5. "cookie", "host" and "again" start it once more: without the magic cookie, by an
//     unmodified host of go-plugin (package stock), and after a kill.
//  6. A finding has a name that never changes, see docs/findings. What breaks a host or a
//     call is a failure. What a host survives is at most a warning.
//
// The package does not know flags, or how anything is printed. A function in [Options]
// returns what to do about an error.
package check
