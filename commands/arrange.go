package commands

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner/schema"
)

// arrange puts the flags of a command line in front of its words. urfave/cli
// stops reading flags at the first word, and takes every later one for a word
// without telling.
//
// After the first names words (PLUGIN and HOOK), and after "--", everything is
// data. A word of the data that is one of our flags is refused: it was almost
// surely meant as one, and can be said after "--".
func arrange(c *cli.Command, prog []string, args []string, names int) ([]string, error) {
	known := flagsOf(c)
	var flags, words []string
	for i := 0; i < len(args); i++ {
		word := args[i]
		if names >= 0 && len(words) >= names {
			data, err := dataWords(known, prog, flags, words, args[i:])
			if err != nil {
				return nil, err
			}
			words = append(words, data...)
			break
		}
		if word == "--" {
			words = append(words, args[i+1:]...)
			break
		}
		if len(word) < 2 || word[0] != '-' {
			words = append(words, word)
			continue
		}
		name, _, hasValue := cutFlag(word)
		takesValue, ok := known[name]
		if short := shortFlags(word, known); !ok && short != nil {
			flags = append(flags, short...)
			continue
		}
		if !ok {
			flag, _, _ := strings.Cut(word, "=")
			return nil, &unknownFlagError{flag: flag, suggest: suggestFlag(name, known)}
		}
		flags = append(flags, word)
		if takesValue && !hasValue {
			if i++; i == len(args) {
				return nil, usage("%s needs a value", word)
			}
			flags = append(flags, args[i])
		}
	}
	return append(append(flags, "--"), words...), nil
}

// shortFlags takes -vq for -v -q, and -j2 for -j 2; nil when it is something else.
func shortFlags(word string, known map[string]bool) []string {
	if strings.HasPrefix(word, "--") {
		return nil
	}
	var flags []string
	for i, letter := range word[1:] {
		takesValue, ok := known[string(letter)]
		if !ok {
			return nil
		}
		flags = append(flags, "-"+string(letter))
		if value := word[1+i+1:]; takesValue && value != "" {
			return append(flags, value)
		} else if takesValue {
			return nil // its value is the next word: one flag for each dash
		}
	}
	return flags
}

// dataWords checks the words behind PLUGIN and HOOK.
func dataWords(known map[string]bool, prog []string, flags, words, rest []string) ([]string, error) {
	for i, word := range rest {
		if word == "--" {
			return append(rest[:i:i], rest[i+1:]...), nil
		}
		if len(word) < 2 || word[0] != '-' {
			continue
		}
		name, _, hasValue := cutFlag(word)
		takesValue, ok := known[name]
		if !ok {
			continue // such as -5: data
		}
		moved, left := rest[i:i+1], rest[i+1:]
		if takesValue && !hasValue && len(left) > 0 {
			moved, left = rest[i:i+2], left[1:]
		}
		line := slices.Concat(prog, flags, moved, words, rest[:i], left)
		return nil, &lateFlagError{flag: word, line: schema.QuoteLine(line)}
	}
	return rest, nil
}

// cutFlag splits --name=value. A flag is the same with one dash or two.
func cutFlag(word string) (name, value string, hasValue bool) {
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
}

// flagsOf maps the names of a command's flags to whether they take a value.
func flagsOf(c *cli.Command) map[string]bool {
	known := map[string]bool{"help": false, "h": false}
	for _, f := range c.Flags {
		takesValue := true
		if doc, ok := f.(cli.DocGenerationFlag); ok {
			takesValue = doc.TakesValue()
		}
		for _, name := range f.Names() {
			known[name] = takesValue
		}
	}
	return known
}

func suggestFlag(name string, known map[string]bool) string {
	var names []string
	for n := range known {
		if len(n) > 1 {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	if s := schema.Suggest(name, names); s != "" {
		return "--" + s
	}
	return ""
}

// unknownFlagError and lateFlagError are told with a hint.
type unknownFlagError struct{ flag, suggest string }

func (e *unknownFlagError) Error() string { return "unknown flag " + e.flag }

type lateFlagError struct{ flag, line string }

func (e *lateFlagError) Error() string {
	return e.flag + " stands after HOOK, where everything is an argument of the hook"
}
