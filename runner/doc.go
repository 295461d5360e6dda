// Package runner is the façade of pyplug: it makes a plugin callable, given its path.
//
//  1. [Open] calls package plan, which resolves the path into a [plan.Plan], pure data. Then it
//     chooses how the plugin is started: as a functions file (pipe.go) or as a gRPC plugin
//     (grpc.go). This is the only choice; no other code depends on it. Open starts nothing.
//  2. A [Keeper] has the plan and controls the plugin's life. [Keeper.Start] starts a pool (package
//     pool), which keeps one or more workers alive. A command that makes one call sets
//     [plan.Config].Once: one worker, never restarted. [Keeper.Close] drains and stops everything.
//  3. [Keeper.Reload] loads the current files. [Keeper.Watch] does so when they change. A
//     [Snapshot] reports which files have changed.
//  4. [Keeper.Launch] starts a single [Process], for package check. It makes the same calls after
//     its start and before its stop as the workers of a pool (calls.go).
//  5. [Keeper.Complete] adds the hints and the plugin's name to an error.
//
// Each file needs only files before it in this order: transport, grpc, pipe, files, launcher,
// calls, process, keeper; then watch and hooks.
//
// The package does not know flags, output or its callers.
package runner
