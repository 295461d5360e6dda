// Package completions embeds the scripts with which shells complete pyplug's command line.
//
//  1. A script passes the words before the cursor to `pyplug __complete`, without their quotes.
//     The last word may be empty.
//  2. pyplug prints one candidate for the last word per line: the whole word, a tab and a
//     description. A plugin may have chosen the candidate, so the script quotes it for its shell,
//     and continues a quote that the user has opened. The line ":files" requests file names, too.
//     A tab and the required suffix may follow: ".py", or "/" for directories only. The exit code
//     is always 0.
//  3. If pyplug fails, for example because it is an older version, the script completes file
//     names.
//
// Neither the package nor the scripts know commands, flags or candidates.
package completions
