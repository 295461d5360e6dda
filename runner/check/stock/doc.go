// Package stock is an unmodified host of go-plugin: its client starts a plugin, connects, pings,
// dispenses and kills it, so that a check reports what users of such a host would see.
//
//  1. [Main] is the host. It differs from other hosts in one way: it sends nothing to a server
//     that does not belong to the plugin. It runs in its own process, because go-plugin may
//     wait forever, panic, or leave processes behind.
//  2. The host prints one line of JSON on its standard output for each step that begins or
//     ends, and for each line of its log.
//  3. [Run] starts that process, reads the lines, and reports how the host ended. Each step
//     has a timeout. If a step exceeds it, Run kills the host, because a real host would
//     hang in that step. Host and plugin are gone when Run returns.
//
// The package does not know the meaning of a step's result, hooks, or Python.
package stock
