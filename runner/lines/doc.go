// Package lines answers JSON Lines with calls: one call for each line that it
// reads, one answer line for each, many at a time.
//
//  1. One goroutine reads lines, however long they are up to a bound, and makes a
//     request of each. What it cannot read is answered as an error.
//  2. A request gets its place in the order of answers, and goes to one of the
//     jobs: goroutines that make the calls.
//  3. Each writes its answer, and the items of a stream as they come, to the
//     outbox: those of the first line that is not answered go straight to the
//     output, those behind it are held until it is their turn. Unordered, all go
//     straight.
//  4. One goroutine writes what is there to the output, as soon as there is any,
//     so that an answer never waits for more input.
//  5. All of it is bounded. Where too much is held, or the output takes nothing,
//     a stream waits with its next item and no further line is read.
//
// Input that ends, and [Options].Stop, drain: nothing more is read, and what runs
// is answered. So does a caller that gave up, whose refusals are no answers: so
// which lines are answered does not depend on how far the reading is ahead. Ending
// the context of [Engine.Run] cancels what runs.
//
// It never knows flags, processes, restarts, or what an error looks like.
package lines
