// Package check says whether a plugin will work, and if not, why.
//
//  1. [Run] goes through the stages of one table, in their order. Each looks at
//     one thing, and returns what it saw, what it found and how long it took.
//  2. A stage that needs another one is skipped when that failed or was left out.
//  3. "plugin" and "interpreter" read files; "source" has the plugin's own Python
//     compile it, and looks for what it imports, without running any of it.
//     The plugin may start meanwhile, and confirms what is said of its imports.
//  4. "launch" tells of that one start. "handshake", "connect" and "health" tell
//     how that went; "services", "hooks" and "stop" ask what runs.
//  5. "cookie", "host" and "again" start it once more: without the magic cookie,
//     by a host of go-plugin as it is (package stock), and after a kill.
//  6. What is found has a name that never changes, of [IDs]. A failure is what
//     breaks a host or a call; what a host survives is a warning at most.
//
// It never knows flags or how anything is printed. What to do about an error it
// is told by a function it is handed.
package check
