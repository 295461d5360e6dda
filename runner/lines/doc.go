// Package lines answers JSON Lines with calls: one call for each line that it reads,
// one answer for each, many at a time.
//
//  1. One goroutine reads lines and makes a task of each. A second goroutine reads the answers
//     that the [Record], if there is one, already has for these tasks.
//  2. A task gets its place in the order of answers and waits for one of the
//     goroutines that make calls. While calls are fast, a goroutine takes several
//     tasks and passes their calls on together, as a [hook.Series]. It adds new calls to
//     the series, so that the worker is never idle. Tasks that were not called, or that the
//     worker hands back, wait again. A line that cannot be parsed is answered with an error
//     instead of a call.
//  3. The goroutine that made the call puts the answer, and the items of a stream as they come,
//     into the outbox. The outbox writes the lines of the first unanswered task at once, and
//     holds the lines of the tasks behind it. If the order does not matter
//     ([Options].Unordered), it writes all lines at once. A failed call may be made again after a
//     delay ([Options].Retries). A [Record] keeps the answers for later runs.
//  4. One goroutine writes output as soon as there is any, so that an answer never waits for more
//     input.
//  5. Memory is bounded. If the outbox holds too much, or the output is slow, a
//     stream waits with its next item and no further line is read.
//
// The engine stops reading at the end of the input, when [Options].Stop is closed, and when the
// caller gives up ([Options].GaveUp). After a stop, it still answers the calls in progress and the
// lines before them, so that the answered lines have no gaps. A caller that gave up refuses calls.
// Their lines get no answer, so it does not matter how far ahead the input was read. Canceling the
// context of [Engine.Run] cancels the calls in progress.
//
// A [Line] is a call that names its hook, with the answer that a record or a file of cases has for
// it. This package reads and writes the lines of both.
//
// The package does not know flags, processes, restarts, or how an error is shown.
package lines
