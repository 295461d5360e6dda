// Package stock is an unmodified host of go-plugin. Its client starts a plugin, connects,
// pings, dispenses and kills it. So a check sees what a user of such a host would see.
//
//  1. [Main] is the host. It differs from others in one thing: it sends nothing to a server
//     that is not the plugin's. It has its own process, because go-plugin may wait forever,
//     panic, or leave processes behind.
//  2. On standard output it prints lines of JSON: which step begins, how it ended, and what
//     is logged. Each step has a timeout. After a timeout no step follows, because a real
//     host would hang there.
//  3. [Run] starts that process, reads the lines, and reports how it ended. Host and plugin
//     are gone when it returns.
//
// It never knows hooks, Python, or what the result of a step means.
package stock
