// Package stock is an unmodified host of go-plugin: its client starts a plugin,
// connects, pings, dispenses and kills it, so that a check sees what the user of
// such a host would see.
//
//  1. [Main] is the host. It differs from others only in that it sends nothing to a server
//     that is not the plugin's. It has a process of its own, since go-plugin may
//     wait forever, panic, or leave processes behind.
//  2. It prints on its standard output, a line of JSON each, which step begins, how
//     it ended, and what is logged meanwhile. It bounds each step; a step that takes
//     too long is the last one, in which a real host would hang.
//  3. [Run] starts that process, reads the lines, and reports how it ended. Host and
//     plugin are gone when it returns.
//
// It never knows what a step's result means, hooks, or Python.
package stock
