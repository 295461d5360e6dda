// Package call makes a call of a background plugin's hook before the rest of pyplug
// is ready: see package warm.
//
// Where an empty Go program takes 1.2 ms, and a C program that does the same as
// this 1.25 ms, it takes 1.9 ms. Its init is the 14th of about 210: only packages
// that need no more than sync come before it. With os, or time, it would wait for
// ten more, of which github.com/BurntSushi/toml, that reads the time zone, takes
// longest: 5% of all. With bytes or hpack it would wait for another six, or 3%.
//
//  1. init reads the command line, from the system where that can tell it.
//  2. call.go sends the words behind `call` as they are, over a socket of
//     local.go, in the frames of package wire. A plain result, which is one frame
//     with one line, is printed and ends the program.
//  3. A call that was sent is never sent again: what is not plain, or does not
//     come within 200 ms, is left in wire with its connection, and the ordinary
//     way goes on from there. Interrupting pyplug meanwhile ends it, and with it
//     the connection, which cancels the call.
//
// It never knows flags, files, or what any answer but the plain one means.
package call
