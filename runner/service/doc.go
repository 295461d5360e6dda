// Package service keeps a plugin under a name: it is the [hook.Plugin] that a daemon
// serves, in the background or in the foreground.
//
//  1. [Find] returns the running plugin that a word of a command line means.
//  2. [Start] returns the name under which a plugin runs in the background. If nobody
//     serves it yet, another process does steps 3 to 5.
//  3. [New] prepares a [Service]. Its [Service.OpenConfig] is the configuration to open the
//     plugin with: every transition passes through the Service.
//  4. [Service.Start] acquires a name, so that clients can wait, and starts the plugin.
//  5. [Service.Run] serves the plugin until a signal or a client stops it: it describes hooks,
//     restarts workers when files change, reports to the service manager, and prints how
//     to attach.
//  6. Every answer says whether files changed since they were loaded. Every error is
//     completed here, because only this process knows its plugin.
//
// The package knows no flags and no terminal. It passes what people should see to its [Reporter].
package service
