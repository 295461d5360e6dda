// Package hook defines the types that all packages of pyplug share.
//
//  1. A [Launcher] starts a plugin's process and returns it as an [Instance]
//     when the plugin is ready.
//  2. An [Instance] is a [Caller]: it runs a [Call] and returns a [Result].
//     [Messages] reads the input of a call.
//  3. A [Plugin] calls one or more instances, here or through a socket, and
//     keeps them alive.
//  4. Every error is an [*Error]. Its [Kind] decides the exit code and whether
//     the instance is kept. An [Exit] describes how a process ended.
//  5. An [Event] is a state change of a plugin that is kept alive, a [Status] its
//     current state, and a [Report] the result of a check.
//
// The package does not know processes, files, sockets or how anything is printed.
package hook
