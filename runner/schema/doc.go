// Package schema says what a plugin's hooks look like, and turns the words
// typed after a hook into arguments for it.
//
//  1. A plugin's description arrives as a [Schema]: hooks and their parameters.
//  2. [ParseWords] reads each word's form: a value, a text, JSON or a file.
//     It needs no description.
//  3. [Bind] gives each [Word] to a parameter of one [Hook] and writes it as
//     JSON, by the parameter's type or, without one, by the rule of [Plain].
//  4. What does not fit is a [*WordError] (step 2) or an [*ArgumentError]
//     (step 3). Both carry what a hint needs; neither gives one.
//
// It never knows files, processes, transports or how anything is printed: a
// file is read by a function that the caller hands in.
package schema
