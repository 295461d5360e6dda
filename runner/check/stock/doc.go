// Package stock is an ordinary host of go-plugin's: its client, as it is, starts
// a plugin, connects, pings, dispenses and kills it. What such a host's user
// would see is found out by looking.
//
//  1. [Main] is the host. It has a process of its own, since go-plugin may wait
//     for ever, panic, or leave processes behind, which are things to tell and
//     not to suffer.
//  2. It says on its standard output, a line of JSON each, which step begins and
//     how it ended, and what is logged meanwhile. A step that takes too long is
//     the last: a real host would still be in it.
//  3. [Run] starts the host, bounds all of it, hears what it says, and sees how
//     it ended. Nothing is left of host and plugin when it returns.
//
// It never knows what a step's result means, hooks, or Python.
package stock
