// Package commands is pyplug's command line: one file for each command.
//
//  1. [Main] makes the signals and the program, and maps what comes back to an
//     exit code, which is the only place where one is chosen.
//  2. readLine sets the flags of a command, which may come anywhere before HOOK,
//     and returns the other words. Flags check their values and write into an
//     options struct, those on how to open a plugin into a runner.Config.
//  3. A function that knows no flags does the work, and returns its error, with the plugin
//     that it concerns.
//  4. The help of a command is its text in help/, and what its flags say of themselves.
//  5. An error is printed with its hints. Only those that concern the command
//     line are added here.
//
// It never knows processes, sockets, frames or go-plugin.
package commands
