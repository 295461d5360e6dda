package commands

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// lineReader reads the command line of one command.
type lineReader struct {
	words []string // that are no flags
	err   error    // the first thing that is wrong; the rest is read all the same
	typed []string // the command and its flags as typed, for hints
	known map[string]*flag
	// names is how many words come before the data, where no flag may stand;
	// negative if there is no data.
	names int
	// modules says how many words may be "-m MODULE", which names a PLUGIN: none, the
	// first, or all.
	modules int
}

// modulesOf returns how many words of a command may be "-m MODULE".
func modulesOf(c *cli.Command) int {
	switch {
	case c.Name == "python": // a verb comes first
		return 2
	case strings.Contains(c.ArgsUsage, "PLUGIN..."):
		return math.MaxInt
	case strings.Contains(c.ArgsUsage, "PLUGIN"):
		return 1
	}
	return 0
}

// readLine reads the words after a command's name. It sets the flags and returns the other
// words. After PLUGIN and HOOK, and after "--", every word is data. A flag of pyplug among the
// data is an error, because it was probably meant as a flag. After "--" it is data.
func readLine(cmd command, args []string) (words []string, err error) {
	r := &lineReader{typed: []string{"pyplug", cmd.Name}, known: flagsOf(cmd.Command), names: cmd.names, modules: modulesOf(cmd.Command)}
	for len(args) > 0 {
		word := args[0]
		switch {
		case word == "--":
			return append(r.words, args[1:]...), r.err
		case word == "-m" && len(r.words) < r.modules:
			args = r.module(args[1:])
		case r.isWord(word):
			r.words = append(r.words, word)
			args = args[1:]
		case r.inData():
			args = r.lateFlag(args)
		default:
			args = r.flag(args)
		}
	}
	return r.words, r.err
}

// inData reports whether PLUGIN and HOOK have been read.
func (r *lineReader) inData() bool { return r.names >= 0 && len(r.words) >= r.names }

// isWord reports whether a word is not a flag. Among the data, -5 is a word.
func (r *lineReader) isWord(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return true
	}
	name, _, _ := cutFlag(word)
	return r.inData() && r.known[name] == nil
}

// module reads the MODULE of -m, and returns the words after it.
func (r *lineReader) module(args []string) []string {
	if len(args) == 0 {
		r.reject(usage("-m needs a MODULE"))
		return nil
	}
	r.words = append(r.words, manifest.ModulePath(args[0]))
	return args[1:]
}

// typedWords returns words as they were typed, with -m before a module.
func typedWords(words []string) (typed []string) {
	for _, word := range words {
		if module, ok := manifest.ModuleOf(word); ok {
			typed = append(typed, "-m")
			word = module
		}
		typed = append(typed, word)
	}
	return typed
}

// flag reads a flag, or several of one letter, and returns the words after it.
func (r *lineReader) flag(args []string) []string {
	word := args[0]
	name, value, hasValue := cutFlag(word)
	f := r.known[name]
	if f == nil {
		if letters := r.letters(word); letters != nil {
			return slices.Concat(letters, args[1:])
		}
		typed, _, _ := strings.Cut(word, "=")
		r.reject(unknownFlag(typed, r.known))
		return args[1:]
	}
	used := 1
	if !f.isSwitch && !hasValue {
		if len(args) == 1 {
			r.reject(usage("%s needs a value", word))
			return nil
		}
		value, used = args[1], 2
	}
	r.typed = append(r.typed, args[:used]...)
	r.set(f, value, hasValue)
	return args[used:]
}

// set sets a flag. A switch without a value is true.
func (r *lineReader) set(f *flag, value string, hasValue bool) {
	if f.isSwitch && !hasValue {
		value = "true"
	}
	f.typed = true
	r.reject(f.set("--"+f.Name, value))
	switch {
	case f.dataless && value != "false":
		r.names = allWords
	case f.isPlugin && r.names > 1:
		r.names = 1
	}
}

// lateFlag reads a flag in the data, which is an error unless the flag is dataless.
func (r *lineReader) lateFlag(args []string) []string {
	name, value, hasValue := cutFlag(args[0])
	f := r.known[name]
	if f.dataless {
		r.set(f, value, hasValue)
		return args[1:]
	}
	moved, rest := args[:1], args[1:]
	if !f.isSwitch && !hasValue && len(rest) > 0 {
		moved, rest = args[:2], args[2:]
		value = moved[1]
	}
	line := schema.QuoteLine(slices.Concat(r.typed, moved, typedWords(r.words), rest))
	r.reject(hinted(usage("%s comes after HOOK, where every word is an argument of the hook", args[0]),
		schema.Hintf("as a flag of pyplug: %s", line), schema.Hintf("as an argument of the hook, write it after `--`")))
	r.set(f, value, hasValue) // --json holds for the error, too
	return rest
}

// reject records an error. The first one counts.
func (r *lineReader) reject(err error) {
	if r.err == nil {
		r.err = err
	}
}

// letters splits -vq into -v -q, and -j2 into -j 2. It returns nil for anything else.
func (r *lineReader) letters(word string) []string {
	if strings.HasPrefix(word, "--") {
		return nil
	}
	var flags []string
	for i, letter := range word[1:] {
		f := r.known[string(letter)]
		if f == nil {
			return nil
		}
		flags = append(flags, "-"+string(letter))
		if f.isSwitch {
			continue
		}
		if value := word[1+i+1:]; value != "" {
			return append(flags, value)
		}
		return nil // its value is the next word: one flag for each dash
	}
	return flags
}

// cutFlag splits --name=value. A flag is the same with one dash or two.
func cutFlag(word string) (name, value string, hasValue bool) {
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
}

// flagsOf maps the names of a command's flags to the flags.
func flagsOf(c *cli.Command) map[string]*flag {
	known := map[string]*flag{}
	for _, f := range c.Flags {
		for _, name := range f.Names() {
			known[name] = valueOf(f)
		}
	}
	return known
}

// unknownFlag returns the error for an unknown flag.
func unknownFlag(typed string, known map[string]*flag) error {
	var names []string
	for n := range known {
		if len(n) > 1 {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	name, _, _ := cutFlag(typed)
	return suggested(usage("unknown flag %s", typed), "--%s", name, names)
}

// hinted adds hints to an error.
func hinted(err error, hints ...schema.Hint) error {
	e := *hook.AsError(err)
	e.Hints = append(e.Hints, hints...)
	return &e
}

// suggested hints at the one of known that was probably meant by a word, as it is typed,
// else at something else.
func suggested(err error, typed, word string, known []string, others ...schema.Hint) error {
	if s := schema.Suggest(word, known); s != "" {
		others = schema.DidYouMean(fmt.Sprintf(typed, s))
	}
	return hinted(err, others...)
}

// atMost rejects words after the first few.
func atMost(words []string, most int) error {
	if len(words) <= most {
		return nil
	}
	return usage("unexpected argument: %s", schema.QuoteLine(words[most:most+1]))
}

// oneWord returns the only word of a command line. what is its name in messages.
func oneWord(c *cli.Context, what string) (string, error) {
	words := c.Args().Slice()
	switch {
	case len(words) == 0:
		return "", usage("%s is missing", what)
	case words[0] == "":
		return "", usage("%s is empty", what)
	}
	return words[0], atMost(words, 1)
}
