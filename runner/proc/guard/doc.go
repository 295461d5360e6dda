// Package guard is the small process that outlives a killed pyplug and cleans up after it.
//
//  1. pyplug starts its own executable again, with [Variable] as the only
//     environment variable and the read end of a pipe as descriptor [Pipe]. Any
//     program that imports this package can be that executable: init detects the
//     variable, becomes the guard and never returns. The package has few imports,
//     so that its init runs before that of heavy packages.
//  2. The guard reads messages from the pipe: the temporary directories, and, on
//     systems where it cannot recognize processes, the process groups.
//  3. The pipe ends when pyplug is gone, however it ended. The guard then kills every process with
//     a [Tag] of this run, until two passes in a row find no such process and no dying process that
//     could have been one. It removes the temporary directories, and exits. It does not adopt
//     orphans, because only an ancestor of pyplug can.
//  4. If pyplug ends normally, it kills the guard, so that none of this happens.
//
// The guard does not know what the processes are, and it does not report anything. A process that
// leaves its group and clears its environment escapes it.
package guard
