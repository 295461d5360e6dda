// Package bench measures what it takes to use a plugin.
//
//  1. [Measure] goes through four phases, one after the other: a start for each
//     call (cold), one call after the other (warm), several at once (pipelined),
//     and the time from a crash until the plugin takes calls again (crash).
//  2. A phase ends after so many rounds, or when its time is up and what runs then
//     has ended, whichever comes first, and after one round at the earliest.
//  3. Each round is timed by itself. What is left is a [Phase]: the times in
//     order, from which percentiles are read, and how many came in how long.
//
// The first calls of a fresh process are slower than those that follow: the warm
// phases begin with rounds that do not count. Calls that wait for each other tell
// little but how many they are, and take long: pipelined tries 2, 4 and so on at
// once first, and stops when so many take a good part of its time. Where that is
// one call, the phase is left out.
//
// It never knows how a plugin is started, called or printed: see [Target].
package bench
