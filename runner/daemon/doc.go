// Package daemon keeps a plugin behind a socket, so that calls from other
// processes find it running.
//
//  1. [Spawn] starts pyplug itself once more, detached, and waits until it is
//     ready or has told, through a pipe, why it is not.
//  2. That one takes its name by [Listen]: a lock and a connection decide who is
//     alive, and what a dead one left is removed, but for its log, which goes when
//     the next one ends or is told to stop. Once a minute, when a client comes and, on
//     Linux, when its socket is removed, the daemon looks whether its files are still
//     there, and makes them again. From the start on it answers what it is; calls wait
//     until [Server.Serve] is handed a [Session].
//  3. A [Client] is a [hook.Caller] over the socket, in the frames of package
//     wire. Each connection is read by one goroutine and each call has its own;
//     the end of a connection cancels its calls and no others. A daemon that has
//     been silent for some seconds is asked whether it is there, so that nobody waits
//     for one that hangs.
//  4. Errors cross as [hook.Told], with the hints of the side that knows them.
//  5. What the plugin prints, and what becomes of it, is in a [Log], which turns
//     over when it is long; [Follow] reads it.
//  6. The one who serves ends when its context does, when a client says stop, or
//     when nobody has needed it for a while: it stops the session, removes its
//     files and frees its name, in this order, so that a free name means that the
//     tree is gone.
//
// The files of a name are NAME.sock, NAME.lock, NAME.json (an [Identity]),
// NAME.log and NAME.log.1, in a directory that is the user's alone; package wire
// says where that is. What has the place of one and is no regular file, such as a
// link, is not opened.
//
// It never knows which transport answers, nor how anything is printed. On Windows
// there are no background plugins, and every function says so.
package daemon
