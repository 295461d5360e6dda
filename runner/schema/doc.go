// Package schema describes a plugin's hooks, and turns the words typed after a
// hook into arguments for it.
//
//  1. A plugin's description arrives as a [Schema]: hooks and their parameters.
//  2. [ParseWords] reads each word's form: a value, a text, JSON or a file. It needs no
//     description. [Decide] uses the parameters' names to decide what a word after --name
//     is; the worker of functions files does the same.
//  3. [Value] returns the value of a word for a parameter without a type.
//  4. [Hook.Explain] lists the words for each parameter. [Hook.Example] writes words that
//     call the hook.
//  5. [*NoHookError] and [*ArgumentError] report a hook that does not exist and
//     a word that does not fit, with hints.
//  6. [Suggest], [Plural], [Span], [Relative] and others word the messages of all packages.
//     They are here because nearly all packages import this one, and it imports none of
//     ours.
//
// The package does not know files, processes, transports or how anything is printed: the
// caller passes in a function that reads files.
package schema
