// Package wire is the frame codec of the pipe between pyplug and its worker, and
// of the socket between pyplug and a background plugin.
//
//  1. [Append] puts a frame's bytes behind a buffer; one write sends it.
//  2. A [Reader] takes frames from a stream, checks each header before it
//     believes it, and never takes more memory than has really come.
//  3. A [Reader] of one [Side] takes that side's types of frame alone.
//  4. [RunDirs], [CheckDir] and [SocketPath] are the rule for where the socket
//     is, and [Build] tells whether both ends are of one build.
//  5. A [Left] carries a call that was sent from the warm way to the ordinary one.
//
// The protocols are the comments in wire.go, which worker.py repeats word for
// word, and in daemon.go.
//
// The package imports next to nothing, and on Linux neither os nor time, so that a
// program which only makes one warm call starts quickly: see commands/warm. It never
// knows what a body says, nor who is at the other end.
package wire
