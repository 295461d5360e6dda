// Package mcp serves the hooks of a plugin as tools for LLM clients, with the Model Context
// Protocol. One [Server] serves one client over standard input and output with [Server.Run], or any
// number of clients over HTTP as an [http.Handler]. A transport reads messages and writes answers.
// Everything else is the same.
//
//  1. A transport immediately answers requests that need no plugin. A client learns that the server
//     is alive without waiting for Python.
//  2. Every other request has a goroutine. It asks [Options].Plugin for the plugin, which may
//     be starting, restarting or reloading.
//  3. A call takes a slot. There are as many slots as the plugin runs calls at once. On standard
//     input a call keeps its slot until its answer is written, so that a client that stops
//     reading stops its calls, and memory is bounded. Over HTTP it frees the slot earlier,
//     because the calls of other clients need it.
//  4. A notification that cancels a request ends the request's context, and the request gets no
//     answer. A client over HTTP also cancels by closing the connection.
//  5. The list of tools comes from the plugin after it has started. Before that it is the list that
//     was stored for the same files. If the plugin cannot start, the list comes from its
//     source. A list over HTTP waits for the plugin.
//  6. [ClientConfig] returns the configuration with which a client starts this server, and
//     [ParentGone] reports when the client has exited.
//
// The server supports the modern protocol and the legacy ones at the same time. A request with a
// protocol version in its _meta uses the modern version 2026-07-28. Any other request uses a legacy
// version. On standard input, an initialize must precede it. Over HTTP each request is independent.
package mcp
