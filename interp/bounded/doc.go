// Package bounded reads what a project contains, which nobody need trust: no file makes its
// reader wait, take all memory, or compute for long.
//
//  1. [Open] opens regular files only, and never waits for a pipe's writer. [Read] and [Head] have
//     a limit of bytes, [Dir] one of entries.
//  2. [TOML] decodes unless the text has so many keys that the decoder, whose time grows with
//     their square, would take more than a fraction of a second.
//  3. [Replace] writes a file at once, so that no reader gets half of it.
//
// It never knows what the files mean. A test holds that all who read files of a project use it.
package bounded
