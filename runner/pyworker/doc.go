// Package pyworker starts functions files: plain Python files whose functions
// are called unchanged.
//
//  1. The worker, worker.py and the parts beside it, is embedded in pyplug and
//     installed once into a private directory, where Python keeps its byte
//     code.
//  2. [Launcher.Launch] starts the plugin's Python on the worker, with the
//     protocol of package wire on its standard input and output. The worker
//     moves the protocol elsewhere before it loads the user's file.
//  3. One goroutine reads the worker's frames and hands each to the call whose
//     number it carries.
//  4. A call that runs out of time is interrupted; a worker that does not
//     answer for it within 200 ms is condemned and killed.
//  5. Death is known from the process's own exit. The calls that were running
//     are then told as crashed, with how the process ended.
//
// It never knows go-plugin, gRPC, restarts, or how anything is printed.
package pyworker
