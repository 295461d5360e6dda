// Package completions holds the scripts that make a shell complete pyplug's
// command line, and embeds them.
//
//  1. A script knows nothing of commands and flags. It hands the words before
//     the cursor, the last one perhaps empty, to `pyplug __complete`.
//  2. That prints one candidate for the last word a line, as the whole word, a
//     tab and a description, and the line ":files" when the shell is to add the
//     names of files. It always exits 0.
//  3. A binary that fails at it, an older one say, leaves the names of files.
//
// It never knows what the candidates are.
package completions
