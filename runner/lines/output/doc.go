// Package output writes to a reader that may be slow, may read nothing, or may have gone away.
//
//  1. [Writer.Append] adds text to a buffer and never waits. One goroutine writes the buffer in
//     order, in chunks, and runs while there is something to write.
//  2. [Writer.Room] and [Writer.Flush] wait for the reader. They wait as long as it makes progress,
//     and have a limit for one that makes none.
//  3. The first failed Write ends the writing.
//
// The package does not know what is written. The caller decides what happens when the reader reads
// nothing: standard error drops lines, and `run --lines` fails.
package output
