// Package commands is pyplug's command line: one file for each command.
//
//  1. [Main] makes the signals and the program, and maps what comes back to an
//     exit code, which is the only place where one is chosen.
//  2. arrange puts a command's flags in front, so that they may stand anywhere
//     before HOOK, and refuses those behind it.
//  3. A command reads its flags into an options struct, and a function that
//     knows no flags does the work.
//  4. What failed is shown with its hints, which are chosen here alone.
//
// It never knows processes, sockets, frames or go-plugin.
package commands
