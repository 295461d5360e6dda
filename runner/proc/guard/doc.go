// Package guard is the small process that outlives a killed pyplug, to clean
// up after it.
//
//  1. pyplug starts its own executable a second time, with [Variable] as the
//     only environment variable and the read end of a pipe as descriptor
//     [Pipe]. Whatever imports this package can be that executable: its init
//     sees the variable, becomes the guard and never returns. It imports os
//     and syscall only, so that init runs before the heavy packages'.
//  2. The guard reads messages from the pipe: which directories are temporary,
//     and, where processes cannot be recognised, which groups live.
//  3. The pipe ends when pyplug is gone, however it went. The guard then kills
//     every process that carries a mark of this [Run], over and over until a
//     whole look round finds none, removes the temporary directories, and exits.
//  4. A pyplug that ends in order kills its guard instead.
//
// The marks are what a process inherits from pyplug's child and keeps when it
// leaves the group, the session and its parent: an environment variable, and
// a resource limit that limits nothing, see [Run].
//
// It never knows what the processes are, and it reports to nobody.
package guard
