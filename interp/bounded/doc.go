// Package bounded reads the files of a project, which may be hostile: no file makes its reader
// wait, exhausts memory, or takes long to parse.
//
//  1. [Open] opens only regular files, and never waits for a pipe's writer. [Read] and [Head] limit
//     the bytes, [Dir] limits the entries.
//  2. [Text] and [Head] return text in UTF-8 without a byte order mark.
//  3. [TOML] rejects text with too many keys, because the decoder's time grows with the square of
//     their number.
//  4. [Replace] writes a file atomically, so that no reader gets half of it. [Rewrite] does so only
//     if the file has not changed since it was read.
//  5. [Lock] locks a file for one process. [IsOurs] reports whether a file belongs to this user.
//  6. [Exists] and [Real] examine a path without opening it. [UserCache] returns the directory of
//     pyplug's own files.
//
// The package does not know what the files mean. A test checks that all code that reads files of a
// project uses it.
package bounded
