// Package runner is the façade of pyplug: it makes a plugin's path callable.
//
//  1. The plan, resolve.go: [Open] resolves the path and its manifest, every setting (flag,
//     environment, manifest, default), the interpreter and the transport. What is resolved
//     never changes. Nothing is started.
//  2. A [Transport] says how the plugin is run: as a functions file (functions.go) or as a
//     gRPC plugin (server.go). It is chosen once, and nothing else asks which it is.
//  3. The keeper, keeper.go: a [Keeper] has what was resolved, and the plugin's life. [Keeper.Start]
//     has package pool keep one to many workers alive. A command that makes one call sets
//     [Config].Once: one worker, never restarted. [Keeper.Close] drains and stops all of it.
//  4. [Keeper.Reload] loads the files as they are now. [Keeper.Watch] does so when they change; a
//     [Snapshot] reports which have changed.
//  5. [Keeper.Launch] starts a single [Process], for package check. It makes the same calls after
//     its start and before its stop as the workers of a pool (calls.go).
//  6. [Keeper.Complete] adds the hints and the plugin's name to an error.
//  7. A launcher whose plugin lacks a module asks missing.go how to provide it.
//
// Each file needs only files before it in this order: transport, grpc, config, python, resolve,
// explain, sync, distribution, missing, hints, descriptors, functions, server, files, launcher, calls,
// process, keeper; then watch and hooks.
//
// The package does not know flags, output or its callers.
package runner
