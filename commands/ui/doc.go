// Package ui is everything that pyplug prints.
//
//  1. [Streams] are the standard streams, and whether they are terminals and
//     coloured.
//  2. Standard output gets data alone, as it is written: results, listings,
//     templates, verdicts and the JSON face of errors. Write errors go back to
//     the caller.
//  3. Standard error gets the rest, all through one screen: a buffer of whole
//     lines with one goroutine that writes it, so that lines never mix, the
//     line of [Streams.Waiting] and [Streams.Progress] is erased in time, and a
//     reader that takes nothing cannot hold up the program for ever.
//  4. What comes from a plugin is made harmless by [escapeLine] first.
//  5. A check has faces of its own: [CheckPrinter] and [Streams.CheckJSON] on
//     standard output, [Streams.Annotate] on standard error, and [WriteJUnit],
//     which writes a file for other programs.
//
// So, on standard error:
//
//	Output.Line ─┐
//	Warn, Log  ──┼─► screen's buffer ──► its writer ──► standard error
//	Waiting,   ──┤
//	Progress   ──┘
//
// It never knows flags, files, or how calls are made.
package ui
