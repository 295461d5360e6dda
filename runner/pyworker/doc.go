// Package pyworker starts functions files: plain Python files whose functions are
// called unchanged.
//
//  1. The worker, the Python program in worker/, is embedded in pyplug. Python keeps its
//     byte code in a private directory, from which it reads it once, when it starts. If it
//     is not there, pyplug sends the source. So whatever removes that directory, a worker
//     that runs needs nothing of it, and the next one starts as well.
//  2. [Launcher.Launch] starts the plugin's Python on the worker, with the protocol
//     of frames.go on its standard input and output. The worker moves the protocol
//     elsewhere before it loads the user's file.
//  3. With preload that Python stays as it is after the import: it is the zygote, and
//     workers are forked from it, if that is safe.
//  4. One goroutine writes what callers queue. One goroutine reads, and passes each
//     frame to the call whose number it carries.
//  5. A worker that takes several calls runs coroutines at once, and plain functions
//     one after the other, in the order of the calls. Calls are sent ahead and wait in
//     the worker, so that none waits for a round trip. Each has its turn when the
//     calls before it are answered or have become tasks of the event loop. With
//     [Config].Threads plain functions run at once, too, and every call has its turn when
//     it is sent.
//     A worker that takes one call at a time can receive a series of calls, in parts: the
//     next part is sent while the last one runs. It begins the calls of a part for a few
//     milliseconds, one after the other, and refuses the rest, also those behind a
//     coroutine. While it has enough to do, the reader pauses between answers.
//  6. A call that runs out of time is interrupted. If the worker does not answer it
//     within 200 ms, the worker is condemned and killed. A call that waits for its
//     turn is abandoned at once, and keeps its slot until its turn has come.
//  7. Death is known from the process's own exit. Calls that had their turn then get
//     an error of kind Crash. Those behind them have not begun, and can be made again.
//
// It never knows go-plugin, gRPC, restarts, or how anything is printed.
package pyworker
