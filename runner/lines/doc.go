// Package lines answers JSON Lines with calls: one call for each line that it reads,
// one answer for each, many at a time.
//
//  1. One goroutine reads lines and makes a request of each. A second goroutine follows. It
//     reads the answers that the [Record] has, if there is one.
//  2. A request gets its place in the order of answers and waits for one of the
//     goroutines that make calls. While calls are fast, a goroutine takes several
//     requests and passes them on together, as a [hook.Series]. It adds new requests to
//     the series, so that the worker is never idle. Requests that were not called, or that the
//     worker hands back, wait again. A line that cannot be read is answered with an error in place of a call.
//  3. That goroutine puts its answer, and the items of a stream as they come, into the
//     outbox. The lines of the first task that is not answered go straight to the output;
//     the outbox holds those of the tasks behind it. If the order does not matter
//     ([Options].Unordered), all lines go straight to the output. A call that fails may
//     wait again, after a delay: [Options].Retries. A [Record] keeps the answers, and has
//     those of an earlier run.
//  4. One goroutine writes what is there as soon as there is anything, so that an
//     answer never waits for more input.
//  5. Memory is bounded. If the outbox holds too much, or the output is slow, a
//     stream waits with its next item and no further line is read.
//
// The end of the input and [Options].Stop end the reading. After a Stop, only the running
// calls and the lines before them are still answered, so that the answered lines have no
// gaps. A caller that gave up ends the reading, too. Lines whose calls it refuses get no
// answer, so it does not matter how far ahead the input was read. Ending the context of
// [Engine.Run] cancels the calls in progress.
//
// A [Line] is a call that names its hook, and beside it what a record or a case knows of its answer. All
// who read or write such a line do it here.
//
// The package does not know flags, processes, restarts, or how an error is shown.
package lines
