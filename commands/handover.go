package commands

import (
	"encoding/json"
	"os"
	"slices"
)

// wordsVariable hands flags to the process that stays. They may hold secrets, such as
// those of --env and --header, and a command line can be read by every user of the
// machine for as long as a process lives, its environment only by the same user.
const wordsVariable = "PYPLUG_DAEMON_WORDS"

// handOver is the variable that holds words.
func handOver(words []string) string {
	text, err := json.Marshal(words)
	if err != nil {
		panic(err) // text is never wrong
	}
	return wordsVariable + "=" + string(text)
}

// takeOver is the command line of the process that stays, with the words that it was
// handed, which it takes from its environment: they are not for the plugin.
func takeOver(args []string) []string {
	if len(args) < 2 || args[1] != daemonWord {
		return args
	}
	var words []string
	if json.Unmarshal([]byte(os.Getenv(wordsVariable)), &words) != nil {
		return args
	}
	_ = os.Unsetenv(wordsVariable) // it has a name, which is all that it takes
	return slices.Concat(args[:2], words, args[2:])
}
