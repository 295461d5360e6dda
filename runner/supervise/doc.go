// Package supervise keeps one slot filled with a live instance of a plugin.
//
//  1. [New] starts the one goroutine that owns a slot. It takes events, one
//     after the other: a start came out, an instance died, a delay is over, a
//     probe was answered, somebody wants something.
//  2. Each goes through step, a pure function in machine.go and wishes.go: it
//     decides what the state is now and what is to be done. It knows no clock,
//     no chance and no process, which all come with the event.
//  3. The loop in supervisor.go publishes the state and performs the actions.
//     What takes time has a goroutine: one for each generation, from its start
//     and its bootstrap calls to its end (live.go), and one for each probe.
//     What comes of it is an event again.
//  4. [Supervisor.Acquire] lends the instance for one call. It goes round the
//     loop: as long as the plugin is ready it costs a lock. Leases tell whether
//     a death came during a call, and whether a probe may miss.
//  5. [Supervisor.Stop] ends the slot, and returns when nothing of it is left.
//
// A death during a call restarts at once: its caller is told, and paces the next
// one. A start that failed, and a death that no call was waiting for, are
// failures, which follow [Rules]: a delay that doubles, and a budget. A failure
// that will come again ends the attempts, until the plugin's files change. Who
// waits is told of a start that failed, though it will be tried again.
//
// It never knows Python, gRPC, or how a process is started.
package supervise
