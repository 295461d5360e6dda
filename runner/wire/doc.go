// Package wire is the frame codec of the pipe between pyplug and its worker.
//
//  1. [Append] puts a frame's bytes behind a buffer; one write sends it.
//  2. A [Reader] takes frames from a stream, checks each header before it
//     believes it, and never takes more memory than has really come.
//
// The protocol is the comment in wire.go, which worker.py repeats word for word.
//
// The package imports next to nothing, so that a program which only makes one
// warm call starts quickly. It never knows what a body says, nor who is at the
// other end.
package wire
