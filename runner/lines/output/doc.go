// Package output writes to a reader that may be slow, may read nothing, or may have gone away.
//
//  1. [Writer.Append] adds text to a buffer and never waits. One goroutine writes the buffer in
//     order, in chunks, and runs while there is something to write.
//  2. [Writer.Room] and [Writer.Flush] wait for the reader. They wait while it makes progress, and
//     give up if it makes no progress for a limit.
//  3. After the first failed Write, nothing more is written.
//
// The package does not know what is written. The caller decides what happens when the reader reads
// nothing: standard error drops lines, and `run --lines` fails.
package output
