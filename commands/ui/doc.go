// Package ui prints everything that pyplug prints.
//
//  1. [Streams] are the standard streams. They record which streams are terminals and have colors.
//  2. Standard output gets only data: results, listings, schemas, checks, and errors as JSON. The
//     methods return write errors to the caller.
//  3. Standard error gets everything else through one screen: a buffer of whole lines, and one
//     goroutine that writes it. So lines never mix, and a reader that stops reading cannot block
//     the program.
//  4. On a terminal, a wait has a line below all others. [Streams.Waiting], [Streams.Progress] and
//     [Streams.LinesProgress] share this line.
//  5. Text for people, including labels and names, is made harmless and colored where it is
//     written: by the screen on standard error, by [Streams.Print] on standard output, and by the
//     printers of JUnit and annotations. Harmless text cannot control a terminal or a CI system.
//  6. JSON comes from encoding/json, begins with "schema": 1, and escapes control characters.
//     Only a hook's value is written unchanged, unless standard output is a terminal.
//  7. [CheckPrinter] and [TestPrinter] print each result as it arrives, for people or as JSON. At
//     the end they can also print the report as JUnit XML and as annotations for GitHub.
//
// On standard error:
//
//	Output.Line ────────┐
//	Warn, Note, Log     ┼─► shown ──► screen's buffer ──► its writer ──► standard error
//	Fail                │
//	Waiting, Progress ──┘
//
// The package does not know flags, files, or how calls are made.
package ui
