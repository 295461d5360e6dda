// Package hook holds the nouns that every room of pyplug speaks in, and the
// promises between them.
//
//  1. A [Launcher] starts a plugin's process and returns it as an [Instance]
//     once it has proved ready.
//  2. An [Instance] is a [Caller]: it takes a [Call] and gives a [Result].
//  3. What went wrong is an [*Error], whose [Kind] decides the exit code and
//     the instance's fate.
//  4. A process that ended is told by an [Exit].
//  5. What becomes of a plugin that is kept alive is told by [Event]s, and what a
//     check found out by a [Report].
//
// It never knows processes, files, sockets or how anything is printed.
package hook
