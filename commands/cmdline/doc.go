// Package cmdline reads the command line of one command.
//
//  1. A [Flag] checks its own value and stores it where its declaration says: in a field of an
//     options struct, or of a plan.Config. [Switch], [Count], [Duration] and the like declare one, and
//     [Setting] declares that of a setting.
//  2. [Read] sets the flags, which may come anywhere before the data, and returns the other
//     words: urfave/cli stops at the first word that is no flag. [SetFromEnvironment] then sets
//     those that were not typed.
//  3. [WantWords] and [Only] check what must be there, and what does not apply.
//  4. [WriteHelp] writes the help of flags, and [Complete] completes them.
//  5. Errors have kind Usage, and a hint with what was probably meant.
//
// The package knows no command.
package cmdline
