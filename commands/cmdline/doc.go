// Package cmdline reads the command line of one command.
//
//  1. A [Flag] checks its own value and stores it where its declaration says: in a field of an
//     options struct, or of a plan.Config. [Switch], [Count], [Duration] and similar functions
//     declare a flag, and [Setting] declares the flag of a setting.
//  2. [Read] sets the flags and returns the other words. Flags may be anywhere before the hook's
//     arguments, but urfave/cli stops at the first word that is not a flag. [SetFromEnvironment]
//     then sets the flags that were not typed.
//  3. [WantWords] and [Only] check required words, and flags that do not apply.
//  4. [WriteHelp] writes the help of flags, and [Complete] completes them.
//  5. Errors have kind Usage, and a hint with the word that was probably meant.
//
// The package does not know any command.
package cmdline
