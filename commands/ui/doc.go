// Package ui prints everything that pyplug prints.
//
//  1. [Streams] are the standard streams: whether they are terminals and coloured.
//  2. Standard output gets data alone: results, listings, templates, checks and errors
//     as JSON. Write errors go back to the caller.
//  3. Standard error gets everything else through one screen: a buffer of whole lines
//     with one goroutine that writes it. So lines never mix, and a reader that
//     stops reading cannot block the program.
//  4. Below the lines of a terminal stands the line of a wait: one mechanism for
//     [Streams.Waiting], [Streams.Progress] and [Streams.LinesProgress].
//  5. Text from a plugin is made visible first, by escape.go alone, and in the same way
//     for terminals, logs and files.
//  6. JSON is encoding/json's, with "schema": 1 before it. Only a hook's value is
//     written as it came.
//  7. A check has three printers: [CheckPrinter] for people, [Streams.CheckJSON], and
//     [WriteJUnit]. [Streams.Annotate] prints its findings for GitHub.
//
// On standard error:
//
//	Output.Line ────────┐
//	Warn, Note, Log     ┼─► screen's buffer ──► its writer ──► standard error
//	Fail                │
//	Waiting, Progress ──┘
//
// It never knows flags, files, or how calls are made.
package ui
