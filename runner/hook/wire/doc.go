// Package wire reads and writes calls and answers as JSON: words, arguments, values, items, errors
// and events. Every server of a [hook.Plugin] uses it.
//
//  1. [DecodeArgs] reads the arguments of a call as docs/http.md documents them.
//     [EncodeWords] writes words for it.
//  2. [AppendWords] writes words for a worker, with the same keys.
//  3. [AppendValue] writes a result or an item. [AppendRaw] writes it as --raw prints it.
//  4. A [Line] is a line of a streamed result.
//  5. [Failure] is an error's envelope, and [Event] returns the JSON of an event.
//
// The package does not know transports, connections or the terminal. It does not parse the values
// that it appends.
package wire
