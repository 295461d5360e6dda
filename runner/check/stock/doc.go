// Package stock is an unmodified host of go-plugin: its client starts a plugin,
// connects, pings, dispenses and kills it, so that a check sees what the user of
// such a host would see.
//
//  1. [Main] is the host. It differs from others only in that it sends nothing to a server
//     that is not the plugin's. It has a process of its own, since go-plugin may
//     wait forever, panic, or leave processes behind.
//  2. It prints one line of JSON on its standard output for each step that begins or
//     ends, and for each line that is logged.
//  3. [Run] starts that process, reads the lines, and reports how it ended. Each step
//     has a timeout. A step that exceeds it is the last one, because a real host would
//     hang in it: Run kills this one. Host and plugin are gone when it returns.
//
// It never knows what a step's result means, hooks, or Python.
package stock
