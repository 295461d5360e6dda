// Package check reports whether a plugin will work, and if not, why.
//
//  1. [Run] runs the stages of one table in their order. Each stage examines one aspect, and
//     returns its observations, its findings and its duration.
//  2. A stage that needs another stage is skipped if that stage failed or was skipped.
//  3. "plugin" and "interpreter" read files. "source" runs source.py in the plugin's own
//     Python, which compiles the plugin's files without running any of them.
//  4. "launch" starts the plugin. "handshake", "connect" and "health" report parts of that
//     start. "hooks" and "stop" use the running plugin.
//  5. "cookie", "host" and "again" start the plugin once more: without the magic cookie, by an
//     unmodified host of go-plugin (package stock), and after a kill.
//  6. A finding has a permanent name, see docs/findings. A problem that breaks a host or a
//     call is a failure. A problem that hosts tolerate is at most a warning.
//
// The package does not know flags, or how anything is printed. It gets the hints about an error
// from package runner.
package check
