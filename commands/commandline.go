package commands

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// commandLine is a command's part of the command line, its flags apart from its
// words. urfave/cli stops at the first word that is no flag, and takes every later
// flag for a word without an error.
type commandLine struct {
	flags []string // one word for each flag: --name, --name=value
	words []string
	err   error // the first thing that is wrong; the rest is read all the same
}

// lineReader reads the command line of one command.
type lineReader struct {
	commandLine
	line  []string // the command and its flags as typed, for hints
	known map[string]cli.Flag
	// names is how many words come before the data, where no flag may stand;
	// negative if there is no data.
	names    int
	wordless []string // the switches with which there is no data
}

// readLine reads the words behind a command's name. After PLUGIN and HOOK, and after
// "--", everything is data. A word of the data that is one of our flags is an error:
// it was almost surely meant as one, and can be given after "--".
func readLine(cmd command, args []string) commandLine {
	r := lineReader{line: []string{"pyplug", cmd.Name}, known: flagsOf(cmd.Command), names: cmd.names, wordless: cmd.wordless}
	for len(args) > 0 {
		word := args[0]
		switch {
		case word == "--":
			r.words = append(r.words, args[1:]...)
			return r.commandLine
		case r.isWord(word):
			r.words = append(r.words, word)
			args = args[1:]
		case r.inData():
			args = r.lateFlag(args)
		default:
			args = r.flag(args)
		}
	}
	return r.commandLine
}

// inData reports whether PLUGIN and HOOK have been read.
func (r *lineReader) inData() bool { return r.names >= 0 && len(r.words) >= r.names }

// isWord reports whether a word is none of the flags; in the data such as -5 is.
func (r *lineReader) isWord(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return true
	}
	name, _, _ := cutFlag(word)
	return r.inData() && r.known[name] == nil
}

// flag reads a flag, or several of one letter, and returns the words behind.
func (r *lineReader) flag(args []string) []string {
	word := args[0]
	name, value, hasValue := cutFlag(word)
	flag, ok := r.known[name]
	if short := r.shortFlags(word); !ok && short != nil {
		return slices.Concat(short, args[1:])
	}
	if !ok {
		typed, _, _ := strings.Cut(word, "=")
		r.fail(unknownFlag(typed, r.known))
		return args[1:]
	}
	used := 1
	if !valueOf(flag).isSwitch && !hasValue {
		if len(args) == 1 {
			r.fail(usage("%s needs a value", word))
			return nil
		}
		value, hasValue, used = args[1], true, 2
	}
	r.line = append(r.line, args[:used]...)
	r.add(name, value, hasValue)
	return args[used:]
}

// add keeps a flag.
func (r *lineReader) add(name, value string, hasValue bool) {
	name = r.known[name].Names()[0]
	word := "--" + name
	if hasValue {
		word += "=" + value
	}
	r.flags = append(r.flags, word)
	if slices.Contains(r.wordless, name) && value != "false" {
		r.names = -1
	}
}

// lateFlag reads a flag in the data, which is an error but for a switch with which
// there is no data.
func (r *lineReader) lateFlag(args []string) []string {
	name, value, hasValue := cutFlag(args[0])
	if slices.Contains(r.wordless, name) {
		r.add(name, value, hasValue)
		return args[1:]
	}
	moved, rest := args[:1], args[1:]
	if !valueOf(r.known[name]).isSwitch && !hasValue && len(rest) > 0 {
		moved, rest = args[:2], args[2:]
	}
	if len(moved) == 2 {
		value, hasValue = moved[1], true
	}
	line := schema.QuoteLine(slices.Concat(r.line, moved, r.words, rest))
	r.fail(hinted(usage("%s comes after HOOK, where every word is an argument of the hook", args[0]),
		"as a flag of pyplug: "+line, "as an argument of the hook, write it after `--`"))
	r.add(name, value, hasValue)
	return rest
}

// fail keeps the first error.
func (r *lineReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// shortFlags reads -vq as -v -q, and -j2 as -j 2; nil if it is something else.
func (r *lineReader) shortFlags(word string) []string {
	if strings.HasPrefix(word, "--") {
		return nil
	}
	var flags []string
	for i, letter := range word[1:] {
		flag, ok := r.known[string(letter)]
		if !ok {
			return nil
		}
		flags = append(flags, "-"+string(letter))
		if valueOf(flag).isSwitch {
			continue
		}
		if value := word[1+i+1:]; value != "" {
			return append(flags, value)
		}
		return nil // its value is the next word: one flag for each dash
	}
	return flags
}

// isOn reports whether a switch is on, as far as it can be known before flags are
// checked.
func (l commandLine) isOn(name string) (on bool) {
	for _, word := range l.flags {
		if flag, value, hasValue := cutFlag(word); flag == name {
			on = !hasValue
			if hasValue {
				on, _ = strconv.ParseBool(value) // an error is reported later
			}
		}
	}
	return on
}

// typed lists the names of the flags.
func (l commandLine) typed() []string {
	names := make([]string, len(l.flags))
	for i, word := range l.flags {
		names[i], _, _ = cutFlag(word)
	}
	return names
}

// cutFlag splits --name=value. A flag is the same with one dash or two.
func cutFlag(word string) (name, value string, hasValue bool) {
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
}

// flagsOf maps the names of a command's flags to the flags.
func flagsOf(c *cli.Command) map[string]cli.Flag {
	known := map[string]cli.Flag{"help": cli.HelpFlag, "h": cli.HelpFlag}
	for _, f := range c.Flags {
		for _, name := range f.Names() {
			known[name] = f
		}
	}
	return known
}

// unknownFlag is the error for a flag that is none of the known ones.
func unknownFlag(typed string, known map[string]cli.Flag) error {
	var names []string
	for n := range known {
		if len(n) > 1 {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	name, _, _ := cutFlag(typed)
	if s := schema.Suggest(name, names); s != "" {
		return hinted(usage("unknown flag %s", typed), "did you mean --"+s+"?")
	}
	return usage("unknown flag %s", typed)
}

// hinted adds hints to an error of ours.
func hinted(err error, hints ...string) error {
	e := *hook.AsError(err)
	e.Hints = append(e.Hints, hints...)
	return &e
}
