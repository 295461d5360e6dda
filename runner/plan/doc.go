// Package plan decides how a plugin is run: [Resolve] turns a [Config] into a [Plan], using only
// files. It starts no program, except a Python if no file has its version or if only Python can
// locate a module.
//
//  1. Package manifest finds the plugin and its manifest, which determine the plugin's working
//     directory and environment.
//  2. Package interp chooses the Python (python.go). The same request answers `python find`,
//     `list`, `why` and `sync` (explain.go, sync.go).
//  3. A flag, the manifest or the source chooses a [Transport].
//  4. Package settings merges flags, the manifest and defaults (config.go).
//
// A Plan also has facts from the plugin's files: how Python imports it, which descriptors it has,
// and whether it serves the Model Context Protocol.
//
// The package does not know processes of the plugin, launchers or pools.
package plan
