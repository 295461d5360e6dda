// Package commands is pyplug's command line: one file for each command.
//
//  1. [Main] sets up the signals and the program, and maps the returned error to an
//     exit code.
//  2. Package cmdline sets the flags of a command, which may come anywhere before HOOK, and
//     returns the other words. Flags write into an options struct; those about opening a
//     plugin write into a plan.Config.
//  3. A function that knows no flags does the work, and returns its error, with the plugin
//     that it concerns.
//  4. The help of a command is its text in help/ and the usage texts of its flags.
//  5. An error is printed with its hints. Only those that concern the command
//     line are added here.
//
// The package does not know processes, sockets, frames or go-plugin.
package commands
