// Package commands is pyplug's command line, with one file for each command.
//
//  1. [Main] sets up the signals and the program, and maps the returned error to an exit code.
//  2. Package cmdline sets the flags of a command, which may be anywhere before HOOK, and returns
//     the other words. Flags write to an options struct. Flags about opening a plugin write to a
//     plan.Config.
//  3. A function that does not know flags does the work. It returns an error together with the
//     plugin that the error concerns.
//  4. The help of a command is its text in help/ and the usage texts of its flags.
//  5. An error is printed with its hints. Only hints about the command line are added here.
//
// The package does not know processes, sockets, frames or go-plugin.
package commands
