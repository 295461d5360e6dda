// Package runner is the façade of pyplug: it makes a plugin's path callable.
//
//  1. [Open] resolves the path and its manifest, every setting (flag, environment,
//     manifest, default), the interpreter and the transport, into an [Opened] that
//     never changes. Nothing is started.
//  2. A [Transport] says how the plugin is run: as a functions file (functions.go) or as a
//     gRPC plugin (server.go). It is chosen once, and nothing else asks which it is.
//  3. [Opened.Start] has package pool keep one to many workers alive. Several pools of one
//     plugin share its launcher. A command that makes one call sets [Config].Once: one
//     worker, never restarted.
//  4. [Opened.Watch] restarts a plugin when its files change; a [Snapshot] reports
//     which have changed.
//  5. [Opened.Launcher] starts single processes, for package check.
//  6. A launcher whose plugin lacks a module asks missing.go how to provide it.
//
// Each file needs only files before it in this order: transport, grpc, config, python, resolve,
// explain, sync, distribution, missing, descriptors, functions, server, files, launcher, open; then
// start, watch and kept.
//
// The package does not know flags, output or its callers.
package runner
