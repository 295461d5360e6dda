// Package check reports whether a plugin will work, and if not, why.
//
//  1. [Run] runs the stages of one table in their order. A stage checks one thing. It
//     returns a message, its findings, and how long it took.
//  2. A stage that needs another one is skipped if that one failed or was skipped.
//  3. "plugin" and "interpreter" read files. "source" runs source.py in the plugin's own
//     Python. It compiles the plugin's files and looks for their imports, but runs none of
//     them. The start that follows confirms its findings about imports.
//  4. "launch" starts the plugin. "handshake", "connect" and "health" report parts of that
//     start. "services", "hooks" and "stop" use the running plugin.
//  5. "cookie", "host" and "again" start the plugin once more: without the magic cookie, by
//     an unmodified host of go-plugin (package stock), and after a kill.
//  6. A finding has a name that never changes. A failure breaks a host or a call. What a host
//     survives is a warning at most.
//
// It never knows flags, or how a report is printed. A function in [Options] returns hints for
// errors.
package check
