// Package mcp serves the hooks of a plugin as tools for an LLM client, with the Model
// Context Protocol over standard input and output.
//
//  1. One goroutine reads lines. It answers what needs no plugin at once, so a client never
//     waits for Python to learn that the server lives.
//  2. Every other request has a goroutine. It asks [Options].Plugin for the plugin, which may
//     still start, may be started again, or may be reloaded.
//  3. A call takes a slot until its answer is written. So a client that stops reading stops
//     the calls, and memory is bounded.
//  4. A notification that cancels a request ends its context; the request is not answered.
//  5. The list of tools comes from the plugin once it runs. Before that it is the list that
//     was kept for the same files. If the plugin cannot start, the list comes from its
//     source.
//  6. [ClientConfig] writes the configuration with which a client starts this server, and
//     [ParentGone] reports that the client has exited.
//
// Both eras of the protocol are served at the same time: a request with the protocol version
// in its _meta is one of 2026-07-28, any other belongs to the session that initialize began.
package mcp
