// Package pool keeps one to many workers of a plugin alive and spreads calls over them.
// A [Pool] is a [hook.Plugin]. Its caller passes the launcher that starts processes.
//
//  1. [Start] starts the first worker and returns when it is ready. A first start
//     that fails is not retried. The other workers follow.
//  2. A worker is one goroutine: start, serve, and then wait for the next start or give
//     up (worker.go). A pure function of [Policy] decides what follows an exit or a
//     failed start, and after which delay. The goroutine looks at the state, under the
//     pool's lock, and does what is due. Others change the state and wake it.
//  3. A call takes a place in the worker with the fewest calls, or waits in the one
//     queue, first come, first served. A call that ends passes its place to the
//     longest-waiting call. Both happen under the pool's lock, so no call overtakes
//     another.
//  4. The outcome of a call decides, by its kind of error, whether the instance takes
//     further calls, and whether a call that never began goes to another worker
//     (outcome.go). A call that began is never sent again. A series takes one place for
//     several calls. Its caller repeats the calls that never began.
//  5. An instance is replaced when a restart is requested, when it reaches a limit, or when it
//     takes no more calls. The replacement starts while the old instance still serves. Once it is
//     ready, it serves, and the old instance drains. If two instances cannot live at once, the old
//     one stops first.
//  6. Probes find instances that hang: after three misses in a row, an instance is replaced. A miss
//     does not count while calls run, unless a call has ended unanswered and the instance has
//     answered no call and no probe since.
//  7. Every transition is one [hook.Event]. Events are delivered one by one, in order.
//  8. [Pool.Close] drains for 5 s, makes the shutdown calls and stops everything.
//
// A call that times out does not harm the next one: once an instance's Call has returned, the
// instance takes the next call, rejects it unsent, or is Done. The exception is a call whose error
// says that it is unanswered: it may still run in the instance.
//
// The package does not know Python, gRPC, or how a process is started. The error of a start
// says whether the start would fail again (Permanent) and whether it failed only because
// another instance lives (Alone).
package pool
