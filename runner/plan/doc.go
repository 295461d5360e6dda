// Package plan decides how a plugin is run: [Resolve] turns a [Config] into a [Plan], from files. It starts
// nothing, except a Python whose version no file states or that alone knows where a module is.
//
//  1. manifest finds the plugin and its manifest. The plugin's working directory and environment follow.
//  2. interp chooses the Python (python.go). The same request answers `python find`, `list`, `why` and `sync`
//     (explain.go, sync.go).
//  3. A [Transport] is chosen by a flag, the manifest or the source.
//  4. settings merges flags, the manifest and defaults (config.go).
//
// A Plan also says what the plugin's files show: how Python imports it, which descriptors it has, whether it
// serves the Model Context Protocol.
//
// The package knows no process of the plugin, no launcher and no pool.
package plan
