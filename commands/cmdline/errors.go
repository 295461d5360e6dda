package cmdline

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// Usage returns an error of kind Usage.
func Usage(format string, args ...any) error {
	return hook.NewError(hook.Usage, fmt.Errorf(format, args...))
}

// elsewhere maps commands and flags of other tools to those of pyplug. why is the hint for a flag
// that corresponds to a command.
var elsewhere = map[string]struct {
	meant schema.Command
	why   string
}{
	"list": {meant: schema.Command{"status"}}, "top": {meant: schema.Command{"status", "--watch"}}, "tail": {meant: schema.Command{"logs"}},
	"reload": {meant: schema.Command{"restart"}}, "kill": {meant: schema.Command{"stop"}},
	"-r": {meant: schema.Command{"--raw"}}, "--resume": {meant: schema.Command{"--record"}}, "--joblog": {meant: schema.Command{"--record"}},
	"--halt":  {meant: schema.Command{"--fail-fast"}},
	"--force": {schema.Command{"stop"}, "run %s: it kills a plugin that does not end in time"},
	"--csv":   {schema.Command{"help", "recipes"}, "run %s to see how to read CSV"},
}

// UnknownFlag returns the error for an unknown flag of a command, or of pyplug if command is empty.
func UnknownFlag(word, command string, known iter.Seq[string]) error {
	typed, _, _ := strings.Cut(word, "=")
	names := slices.DeleteFunc(slices.Sorted(known), func(name string) bool { return len(name) == 1 })
	other := elsewhere[typed]
	help := schema.Command(slices.DeleteFunc([]string{command, "--help"}, func(word string) bool { return word == "" }))
	err := Usage("unknown flag %s", typed)
	switch {
	case other.why != "":
		err = Hinted(err, schema.Hintf(other.why, other.meant))
	case other.meant != nil && slices.Contains(names, strings.TrimPrefix(other.meant[0], "--")):
		err = Hinted(err, schema.DidYouMean(other.meant[0])...)
	default:
		err = Suggested(err, "--%s", strings.TrimLeft(typed, "-"), names)
	}
	return Hinted(err, schema.Hintf("run %s to list the flags", help))
}

// UnknownCommand returns the error for an unknown command. args are the words after it.
func UnknownCommand(word string, args, known []string) error {
	err := Usage("unknown command %s", schema.QuoteLine([]string{word}))
	help := schema.Hintf("run %s to list the commands", schema.Command{"--help"})
	file, name, two := manifest.TwoWords(word)
	var meant schema.Command
	switch s := schema.Suggest(word, known); {
	case elsewhere[word].meant != nil:
		meant = slices.Concat(elsewhere[word].meant, args)
	case two:
		meant = slices.Concat(schema.Command{"run", file, name}, args)
	case strings.ContainsAny(word, "./") && len(args) == 0:
		return Hinted(err, schema.Hintf("run %s to list its hooks", schema.Command{"hooks", word}), help)
	case strings.ContainsAny(word, "./"):
		meant = slices.Concat(schema.Command{"run", word}, args)
	case s != "":
		meant = slices.Concat(schema.Command{s}, args)
	default:
		return Hinted(err, help)
	}
	return Hinted(err, schema.Hintf("did you mean %s?", meant), help)
}

// Hinted adds hints to an error.
func Hinted(err error, hints ...schema.Hint) error {
	e := *hook.AsError(err)
	e.Hints = append(e.Hints, hints...)
	return &e
}

// Suggested adds a hint to err with the word of known that is similar to word. typed is the format
// of the suggestion. If no word is similar, Suggested adds the hints in others.
func Suggested(err error, typed, word string, known []string, others ...schema.Hint) error {
	if s := schema.Suggest(word, known); s != "" {
		others = schema.DidYouMean(fmt.Sprintf(typed, s))
	}
	return Hinted(err, others...)
}
