// Package schema describes a plugin's hooks, and converts the words after a hook into its
// arguments.
//
//  1. A plugin describes itself with a [Schema]: hooks and their parameters.
//  2. [ParseWords] reads each word's form: a value, a text, JSON or a file. It needs no
//     description. [Decide] uses the parameters' names to decide the meaning of a word after
//     --name. The worker of functions files has the same rules.
//  3. [Value] returns the value of a word for a parameter without a type.
//  4. [Hook.Explain] lists the words for each parameter. [Hook.Example] returns words that call the
//     hook.
//  5. [*NoHookError] and [*ArgumentError] are the errors for a hook that does not exist and for a
//     word that does not fit, with hints.
//  6. [Suggest], [Plural], [Span], [Relative] and other functions format messages for all packages.
//     They are here because nearly all packages import this one, and it imports no other package of
//     this module.
//
// The package does not know files, processes, transports or how anything is printed. The caller
// passes in a function that reads files.
package schema
