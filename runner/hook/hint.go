package hook

import (
	"fmt"
	"slices"

	"github.com/pyplug/pyplug/runner/schema"
)

// Word formats a hint for the command line. It is the only code that knows how flags and commands
// are written.
func Word(h schema.Hint) string {
	format, args := h.Parts()
	if len(args) == 0 {
		return format
	}
	words := slices.Clone(args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case schema.Setting, schema.CallSetting:
			words[i] = fmt.Sprint("--", arg)
		case schema.Command:
			words[i] = "`pyplug " + schema.QuoteLine(arg) + "`"
		case schema.Hint:
			words[i] = Word(arg)
		}
	}
	return fmt.Sprintf(format, words...)
}

// Words returns each hint as [Word] does.
func Words(hints []schema.Hint) []string {
	words := make([]string, len(hints))
	for i, h := range hints {
		words[i] = Word(h)
	}
	return words
}
