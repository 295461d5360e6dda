// Package cases is files of calls with their answers beside them, as JSON Lines.
//
//  1. A [Record] keeps the answers of run --lines. It appends each, and finds them again by hook,
//     arguments and occurrence.
//
// It knows no flags and no terminal.
package cases
