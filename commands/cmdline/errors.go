package cmdline

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Usage returns an error of kind Usage.
func Usage(format string, args ...any) error {
	return hook.NewError(hook.Usage, fmt.Errorf(format, args...))
}

// UnknownFlag returns the error for an unknown flag.
func UnknownFlag(word string, known iter.Seq[string]) error {
	typed, _, _ := strings.Cut(word, "=")
	names := slices.DeleteFunc(slices.Sorted(known), func(name string) bool { return len(name) == 1 })
	return Suggested(Usage("unknown flag %s", typed), "--%s", strings.TrimLeft(typed, "-"), names)
}

// Hinted adds hints to an error.
func Hinted(err error, hints ...schema.Hint) error {
	e := *hook.AsError(err)
	e.Hints = append(e.Hints, hints...)
	return &e
}

// Suggested adds a hint to err: the word of known that was probably meant, in the format
// typed. If there is none, it adds the other hints.
func Suggested(err error, typed, word string, known []string, others ...schema.Hint) error {
	if s := schema.Suggest(word, known); s != "" {
		others = schema.DidYouMean(fmt.Sprintf(typed, s))
	}
	return Hinted(err, others...)
}
