// Package runner is the façade of pyplug: it makes a plugin's path callable.
//
//  1. [Open] has package plan resolve the path into a [plan.Plan], which is pure data, and chooses how
//     such a plugin is started: as a functions file (pipe.go) or as a gRPC plugin (grpc.go).
//     It is chosen once, and nothing else asks which it is. Nothing is started.
//  2. A [Keeper] has the plan, and the plugin's life. [Keeper.Start] has package pool keep one to many
//     workers alive. A command that makes one call sets [plan.Config].Once: one worker, never
//     restarted. [Keeper.Close] drains and stops all of it.
//  3. [Keeper.Reload] loads the files as they are now. [Keeper.Watch] does so when they change; a
//     [Snapshot] reports which have changed.
//  4. [Keeper.Launch] starts a single [Process], for package check. It makes the same calls after
//     its start and before its stop as the workers of a pool (calls.go).
//  5. [Keeper.Complete] adds the hints and the plugin's name to an error.
//
// Each file needs only files before it in this order: transport, grpc, pipe, files, launcher,
// calls, process, keeper; then watch and hooks.
//
// The package does not know flags, output or its callers.
package runner
