// Package mcp serves the hooks of a plugin as tools for LLM clients, with the Model Context
// Protocol. One [Server] answers one client over standard input and output, by [Server.Run], or any
// number of clients over HTTP, as an [http.Handler]. A transport reads messages and writes answers;
// everything else is the same.
//
//  1. A transport answers what needs no plugin at once, so a client never waits for Python to learn
//     that the server lives.
//  2. Every other request has a goroutine. It asks [Options].Plugin for the plugin, which may
//     still start, may be started again, or may be reloaded.
//  3. A call takes a slot. On standard input it keeps the slot until its answer is written: a client
//     that stops reading stops its calls, and memory is bounded. Over HTTP it does not, because the
//     calls of other clients need the slots.
//  4. A notification that cancels a request ends its context; the request is not answered. A client
//     over HTTP also cancels by closing the connection.
//  5. The list of tools comes from the plugin once it runs. Before that it is the list that
//     was kept for the same files. If the plugin cannot start, the list comes from its
//     source. A list over HTTP waits for the plugin.
//  6. [ClientConfig] writes the configuration with which a client starts this server, and
//     [ParentGone] reports that the client has exited.
//
// Both eras of the protocol are served at the same time: a request with the protocol version
// in its _meta is one of 2026-07-28, any other is one of the era of initialize. On standard input, an
// initialize must precede it. Over HTTP each request stands alone.
package mcp
