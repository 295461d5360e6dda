// Package access decides which requests over TCP are served, and listens for them.
//
//  1. [Open] reads the token file, checks that the addresses may be listened on, and listens. A connection
//     that accepts no byte for a while is closed.
//  2. [Access.Handler] wraps the handler of all requests. A request passes in this order: its Origin, who sends
//     it, its Host, its media type. Only then is its body read, with limits of size, speed and memory.
//  3. Who sends it is known by a token or, on loopback, by the user that owns the other end of the
//     connection: the kernel's table of connections has it. That is asked once a connection.
//
// The package does not know what the requests mean, but for the paths of probes, which everybody may ask.
package access
