// Package runner is the façade of pyplug: it makes a plugin's path callable.
//
//  1. [Open] resolves the path and its manifest, every setting (flag, environment,
//     manifest, default), the interpreter and the transport, into an [Opened] that
//     never changes. Nothing is started.
//  2. [Opened.Start] chooses the launcher by the transport, and has package pool keep
//     one to many workers alive. A command that makes one call sets [Config].Once: one
//     worker, never restarted.
//  3. [Opened.Watch] restarts a plugin when its files change; a [Snapshot] tells which
//     have changed.
//  4. [Opened.Launcher] starts single processes, for package check.
//
// It never knows flags, output, or who calls.
package runner
