// Package pool spreads calls over several instances of one plugin. A [Pool] is
// a [hook.Caller] over slots, each of which somebody else keeps filled.
//
//  1. [New] takes the slots. For each that has no instance a filler, one
//     goroutine, waits in [Slot.Acquire]; it ends when there is one, when the
//     slot gave up, and with the pool. The last slot's error is told to all who
//     wait.
//  2. A call takes a place: that of the slot with the fewest calls, of several
//     the one used last, which is warm, so that idle ones stay idle. The place
//     is a [Hold] on the slot's instance, by [Slot.TryAcquire].
//  3. Where no place is free the call waits in one queue, bounded in length and,
//     if wanted, in time. A call that ends gives its place to whoever waits
//     longest, under the one lock; as long as anybody waits, no place is free.
//     So no wake-up is lost and nobody is overtaken.
//  4. What comes of an error is in one table, in fate.go: whether the instance
//     gets further calls, and whether the call is made again, which it is
//     only if it never reached the plugin. A slot that lost its instance is
//     filled again, and the queue goes on with the others. An instance that
//     takes no more calls and is still there is replaced.
//  5. An instance that answered so many calls, is so old, was idle for so long
//     or takes so much memory is replaced by [Slot.Replace], see [Options].
//  6. A [Lease] keeps one place for several calls.
//  7. [Pool.Drain] lets no new call in and waits for the others; [Pool.Close]
//     stops the slots.
//
// A call that ran out of time does not harm the next one. For that the pool
// relies on a promise of the transport: after an instance's Call has returned,
// the instance takes the next call, or refuses it unsent ([hook.Unavailable]),
// or is Done. For a transport that promises less there is [Options].Probe: such
// an instance gets no further call until it has answered, the probe or another
// of its calls, or is replaced, while its other calls go on.
//
// It never knows processes, Python, gRPC, or how and when a slot restarts.
package pool
