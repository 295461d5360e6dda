// Package pyworker starts functions files: plain Python files whose functions
// are called unchanged.
//
//  1. The worker, worker.py and the parts beside it, is embedded in pyplug and
//     installed once into a private directory, where Python keeps its byte
//     code.
//  2. [Launcher.Launch] starts the plugin's Python on the worker, with the
//     protocol of package wire on its standard input and output. The worker
//     moves the protocol elsewhere before it loads the user's file.
//  3. With preload that Python stays as it is after the import, as the zygote,
//     and workers are forked from it, if that is safe.
//  4. One goroutine reads the worker's frames and hands each to the call whose
//     number it carries. With one processor, and calls that are quick and come one
//     by one, their callers read for themselves.
//  5. A worker that takes several calls runs coroutines at once, and plain
//     functions one after the other, in the order of the calls: the others are
//     sent ahead and wait in the worker, so that none waits for a round trip.
//     With [Config].Threads plain functions run at once, too.
//  6. A call that runs out of time is interrupted; a worker that does not
//     answer for it within 200 ms is condemned and killed. One that waits in the
//     worker is given up at once, and keeps its place until its turn has come. One in a
//     thread that goes on tells where it is, since the stacks show them all.
//  7. Death is known from the process's own exit. The calls that were running
//     are then told as crashed, with how the process ended, and those that
//     waited as not sent: while calls are begun in order, all but the first.
//
// It never knows go-plugin, gRPC, restarts, or how anything is printed.
package pyworker
