// Package cases reads and writes files of calls with their answers, as JSON Lines, and runs them.
//
//  1. A [Record] keeps the answers of run --lines. It appends each answer to its file, and finds
//     it again by hook, arguments and occurrence: the n-th call with this hook and these arguments.
//  2. [Parse] reads a file of cases: calls with the answers that they should get. A record is a
//     file of cases, too. [Preflight] looks up their hooks before they run.
//  3. [Run] runs the cases of files in lanes. Each lane runs one file at a time, on its own
//     plugin. It replaces the plugin's process as [Isolation] says, and after a case that ended
//     the process.
//  4. A [Result] that failed has a [Failure], which says where values differ.
//  5. [FileResult.Update] replaces the expected answers that differ from the returned ones.
//
// The package does not know flags or a terminal, and does not start plugins.
package cases
