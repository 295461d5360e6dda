// Package service keeps a plugin running under a name. A [Service] is the [hook.Plugin] that a
// daemon serves, in the background or in the foreground.
//
//  1. [Find] returns the running plugin for a word of a command line.
//  2. [Start] returns the name under which a plugin runs in the background. If the plugin does not
//     run yet, another process does steps 3 to 5.
//  3. [New] prepares a [Service]. The plugin must be opened with the configuration of
//     [Service.OpenConfig], so that the Service receives every transition.
//  4. [Service.Start] acquires a name, so that clients can wait, and starts the plugin.
//  5. [Service.Run] serves the plugin until a signal or a client stops it: it describes hooks,
//     restarts workers when files change, reports to the service manager, and prints how
//     to attach.
//  6. Every answer says whether files changed since they were loaded. The Service completes every
//     error, because only this process knows its plugin.
//
// The package does not know flags or the terminal. It passes messages for people to its [Reporter].
package service
