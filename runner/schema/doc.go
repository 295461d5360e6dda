// Package schema describes a plugin's hooks, and turns the words typed after a
// hook into arguments for it.
//
//  1. A plugin's description arrives as a [Schema]: hooks and their parameters.
//  2. [ParseWords] reads each word's form: a value, a text, JSON or a file.
//     It needs no description.
//  3. [AppendWords] writes the words for a worker, which knows the parameters, with
//     what each is where no type decides, by the rule of [Value].
//  4. [Hook.Explain] and [Hook.Example] say which words give its parameters, and
//     write words that call it.
//  5. [*NoHookError] and [*ArgumentError] report a hook that does not exist and
//     a word that does not fit, with hints.
//  6. [Suggest], [Plural], [Span], [Relative] and the like word what all packages say:
//     they stand here since nearly all import this one, and it imports none of ours.
//
// It never knows files, processes, transports or how anything is printed: the
// caller passes in a function that reads files.
package schema
