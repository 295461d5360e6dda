// Package access listens over TCP and decides which requests are served.
//
//  1. [Open] reads the token file, checks that the addresses are allowed, and listens. A connection
//     fails if the client accepts no byte for a while.
//  2. [Access.Handler] wraps the handler of all requests. It checks a request in this order: its
//     Origin, its sender, its Host, its media type. Only then does it read the body, with limits of
//     size, speed and memory.
//  3. The sender is identified by a token or, on loopback, by the user that owns the other end of
//     the connection. The user comes from the kernel's table of connections, which is read once per
//     connection.
//
// The package does not know what the requests mean, except for the paths of probes, which everybody
// may request.
package access
