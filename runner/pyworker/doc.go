// Package pyworker starts functions files: plain Python files whose functions are
// called unchanged.
//
//  1. The worker, the Python program in worker/, is embedded in pyplug. Python keeps the
//     worker's byte code in a private directory and reads it once, when it starts. If the
//     byte code is not there, pyplug sends the source. So a running worker does not need
//     that directory, and the next one starts even if the directory was removed.
//  2. [Launcher.Launch] starts the plugin's Python with the worker. The protocol of
//     frames.go uses two descriptors of its own. The worker hides them from its children
//     before it loads the user's file.
//  3. With preload, that Python becomes the zygote after the import. Workers are forked
//     from it, if that is safe, until [Launcher.Renew]. The package does not know whether
//     the import is out of date.
//  4. One goroutine writes the frames that callers queue. Another goroutine reads, and passes
//     each frame to the call whose number it carries.
//  5. A worker that takes several calls runs coroutines at the same time. It runs plain
//     functions one after the other, in the order of the calls. Calls are sent ahead and
//     wait in the worker, so that none waits for a round trip. A call has its turn when
//     the calls before it are answered or have become tasks of the event loop. With
//     [Config].Threads plain functions run at the same time, too, and every call has its
//     turn when it is sent.
//     A worker that takes one call at a time can receive a series of calls, which also wait in
//     the worker. pyplug sends the next part of a series while the worker runs the one before. If
//     pyplug asks for it by a frame and SIGURG, the worker hands back the calls that have not
//     begun. It also rejects calls behind a coroutine and, with [hook.Series].FailFast, behind a
//     failure. While the worker has enough to do, the reader pauses between answers.
//  6. A call that times out is interrupted. If the worker does not answer it within 200 ms,
//     pyplug terminates the worker: it rejects new calls and kills the worker. A call that
//     waits for its turn is abandoned at once, but counts as one of the worker's calls until
//     its turn.
//  7. The calls of a worker end when its process exits. They also end when its main thread ends,
//     which a last frame reports, because a forked child can hold the pipe open. Calls that had
//     their turn then get an error of kind Crash. Calls behind them have not begun, and can be
//     made again.
//
// The package does not know go-plugin, gRPC, restarts, or how anything is printed.
package pyworker
