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
//  5. Whatever is printed for people, labels and names too, is made visible and coloured
//     where it is written: on standard error by the screen, on standard output by
//     [Streams.Print], in JUnit and annotations by their printers. Nothing in it acts on
//     a terminal or a CI system.
//  6. JSON is encoding/json's, with "schema": 1 before it, and escapes what acts. Only a
//     hook's value is written as it came, unless standard output is a terminal.
//  7. A check has three printers: [CheckPrinter] for people, [Streams.CheckJSON], and
//     [WriteJUnit]. [Streams.Annotate] prints its findings for GitHub.
//
// On standard error:
//
//	Output.Line ────────┐
//	Warn, Note, Log     ┼─► shown ──► screen's buffer ──► its writer ──► standard error
//	Fail                │
//	Waiting, Progress ──┘
//
// It never knows flags, files, or how calls are made.
package ui
