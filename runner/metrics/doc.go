// Package metrics writes a plugin's status and its calls in the text format of Prometheus, version
// 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/.
//
//  1. [AppendStatus] writes the status of plugins, using one table of metrics. `status --metrics`
//     prints it.
//  2. A server counts the calls that it passes to a plugin: [Calls.Observe] adds a call to its
//     hook's failures and latency histogram.
//  3. [Calls.Append] writes both for one plugin. This is the text of `/metrics`.
//
// A series that is known in advance is written from the start, with the value 0, because Prometheus
// does not see the first increase of a series that appears with it. The number of series is
// bounded: callers choose the names of hooks, but a name gets its own series only if the plugin has
// that hook.
//
// The package does not know sockets, HTTP, or where a status comes from.
package metrics
