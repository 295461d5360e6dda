// Package wire reads and writes calls and answers as JSON: words, arguments, values,
// items, errors and events. Every server of a [hook.Plugin] uses it.
//
//  1. [DecodeArgs] reads the arguments of a call as docs/http.md documents them.
//     [EncodeWords] writes words for it.
//  2. [AppendWords] writes words for a worker, with the same keys.
//  3. [AppendValue] writes a result or an item, and [AppendRaw] what --raw prints of it.
//  4. A [Line] is a line of a streamed result.
//  5. [Failure] is an error's envelope, and [Event] returns an event.
//
// It knows no transport, no connection and no terminal. It appends values unread.
package wire
