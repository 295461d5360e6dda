// Package guard is the small process that outlives a killed pyplug and cleans up
// after it.
//
//  1. pyplug starts its own executable again, with [Variable] as the only
//     environment variable and the read end of a pipe as descriptor [Pipe]. Any
//     program that imports this package can be that executable: init sees the
//     variable, becomes the guard and never returns. The package imports little,
//     so that its init runs before that of heavy packages.
//  2. The guard reads messages from the pipe: the temporary directories, and, on
//     systems where it cannot recognise processes, the process groups.
//  3. The pipe ends when pyplug is gone, however it ended. The guard then kills
//     every process with a [Tag] of this run, until two passes in a row find
//     none, nor one that is dying and could have been one, removes the temporary
//     directories, and exits. Orphans do not come to it: only an ancestor of pyplug
//     can adopt them.
//  4. A pyplug that ends normally kills its guard instead.
//
// It never knows what the processes are, and it reports to nobody. A process that
// leaves its group and clears its environment escapes it.
package guard
