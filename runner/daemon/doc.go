// Package daemon serves a running plugin over a Unix socket, and over TCP. It also contains the
// client.
//
//  1. [Spawn] starts pyplug again as a detached process and waits until that
//     process is ready or reports, through a pipe, why it failed.
//  2. The new process acquires a name with [Listen]: it locks the name's state file.
//     A daemon is alive while it holds that lock or, if the file was removed, while
//     it accepts connections. Listen removes the files of a dead daemon, except its log.
//     From then on the daemon answers status and stop requests. Calls wait until [Server.Serve]
//     receives the [hook.Plugin].
//  3. The socket speaks HTTP/1.1. docs/http.md documents its requests. An error is
//     the JSON of a [hook.Error], to which the daemon has added its hints.
//  4. A [Client] is a [hook.Plugin], too. Each of its requests has its own
//     connection. Closing the connection cancels the request. While a request waits,
//     the client checks that the daemon still answers a status request.
//  5. A [Log] contains the plugin's output and every transition. [ReadLog] reads
//     it.
//  6. Serve ends when its context does, when a client asks for a stop, or when nobody
//     has called for a while. It closes the plugin, removes its files and releases
//     the name, in this order: a free name means that the process tree is gone.
//  7. Over TCP the daemon serves fewer requests, see [Options].Access. It removes details that only
//     the owner should see from errors, see [Public]. Its stop begins with a period in which it
//     still accepts calls, but health requests fail.
//
// The files of a name are NAME.sock and NAME.json (the state file: an [Identity]), in a directory
// that belongs only to the user, see [RunDirs]. If there is a second directory, the daemon acquires
// the name there, too: with a state file, and a link to the socket. The logs are in [LogDir], if
// that can be used. The daemon of an older pyplug may speak another version of the protocol. [List]
// still returns it, and [Stop] ends it with signals.
//
// The daemon rejects connections of other users. On Windows it does not know the user at the other
// end: there the socket inherits the access list of the run directory, which allows this user
// alone. Administrators and the system can still connect, and a process without elevation can
// connect to an elevated daemon of the same user.
//
// On Windows a daemon needs the Unix sockets that the system has since Windows 10 1803. Without
// them, [Listen] fails, or the daemon serves over TCP alone. Windows has no signals: a daemon that
// does not answer a stop request is killed.
//
// The package does not know transports or how anything is printed.
package daemon
