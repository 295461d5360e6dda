// Package bench measures what it takes to use a plugin.
//
//  1. [Measure] runs four phases, one after the other: a start for each call (cold),
//     one call after the other (warm), several at once (pipelined), and the time from
//     a crash until the plugin accepts calls again (crash).
//  2. A phase ends after a number of rounds, or when its time is up and the rounds in
//     progress have ended, whichever is first. It has at least one round.
//  3. Each round is timed. The result is a [Phase]: the sorted times, from which
//     percentiles are read, and the duration of all rounds together.
//
// The first calls of a fresh process are slow, so the warm phases begin with rounds that
// do not count. Calls that only wait for each other take long and measure nothing:
// pipelined tries 1, 2, 4 and so on at once first, and stops when they take a good part of
// its time.
//
// The package does not know how a plugin is started, called or printed: see [Target].
package bench
