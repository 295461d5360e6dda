package daemon

import (
	"net/url"
	"os"
)

// wordsVariable passes flags to the process in the background. They may hold secrets, such
// as those of --env and --header. Every user of the machine can read the command line of a
// process; only the same user can read its environment.
const wordsVariable = "PYPLUG_DAEMON_WORDS"

// HandOver returns the variable with which [Spawn] passes words that other users must not see. They
// need not be UTF-8.
func HandOver(words []string) string { return wordsVariable + "=" + url.Values{"": words}.Encode() }

// TakeOver returns the words that this process was spawned with. It removes them from the
// environment: they are not for the plugin.
func TakeOver() []string {
	values, _ := url.ParseQuery(os.Getenv(wordsVariable)) // as HandOver wrote it
	_ = os.Unsetenv(wordsVariable)                        // fails only for an invalid name
	return values[""]
}
