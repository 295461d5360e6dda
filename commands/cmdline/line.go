package cmdline

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/urfave/cli/v2"
)

// Line reads the command line of one command.
type Line struct {
	Words []string // the words that are not flags: names such as PLUGIN and HOOK, then data
	// Names is the number of names. Every word after them is data, which the hook receives, and never
	// a flag. Names is negative if the command takes no data.
	Names int

	err   error    // the first error, after which Read still reads the rest
	typed []string // the typed command and its flags, for hints
	known map[string]*Flag
	hooks bool // the command takes PLUGIN and HOOK
	// modules is the number of leading words that may be "-m MODULE", which names a PLUGIN.
	modules int
}

// modulesOf returns how many leading words of a command may be "-m MODULE".
func modulesOf(c *cli.Command) int {
	switch {
	case c.Name == "python": // a verb may come before PLUGIN
		return 2
	case strings.Contains(c.ArgsUsage, "PLUGIN..."):
		return math.MaxInt
	case strings.Contains(c.ArgsUsage, "PLUGIN"):
		return 1
	}
	return 0
}

// Read reads the words after a command's name and sets the flags. After the names, such as PLUGIN
// and HOOK, every word is data. A "--" before or between the names ends the flags.
func Read(cmd *cli.Command, names int, args []string) (*Line, error) {
	l := &Line{Names: names, typed: []string{"pyplug", cmd.Name}, known: ByName(cmd), hooks: strings.Contains(cmd.ArgsUsage, "HOOK"), modules: modulesOf(cmd)}
	for flags := true; len(args) > 0 && !l.InData(); {
		word := args[0]
		switch {
		case !flags || len(word) < 2 || word[0] != '-':
			l.Words = append(l.Words, word)
			args = args[1:]
		case word == "--":
			flags = false
			args = args[1:]
		case word == "-m" && len(l.Words) < l.modules:
			args = l.module(args[1:])
		default:
			args = l.flag(args)
		}
	}
	l.Words = append(l.Words, args...)
	return l, l.err
}

// InData reports whether all names, such as PLUGIN and HOOK, have been read.
func (l *Line) InData() bool { return l.Names >= 0 && len(l.Words) >= l.Names }

// TwoWords returns an error if the command takes PLUGIN and HOOK, and both were typed as one word,
// FILE.py:HOOK.
func (l *Line) TwoWords() error {
	if !l.hooks || len(l.Words) == 0 {
		return nil
	}
	file, name, two := manifest.TwoWords(l.Words[0])
	if !two {
		return nil
	}
	line := schema.QuoteLine(slices.Concat(l.typed, []string{file, name}, l.Words[1:]))
	return Hinted(Usage("%s is one word, expected PLUGIN and HOOK as two", schema.QuoteLine(l.Words[:1])), schema.Hintf("did you mean `%s`?", line))
}

// module reads the MODULE of -m, and returns the words after it.
func (l *Line) module(args []string) []string {
	if len(args) == 0 {
		l.reject(Usage("-m needs a MODULE"))
		return nil
	}
	l.Words = append(l.Words, manifest.ModulePath(args[0]))
	return args[1:]
}

// flag reads a flag, or several one-letter flags, and returns the words after it.
func (l *Line) flag(args []string) []string {
	word := args[0]
	name, value, hasValue := Cut(word)
	f := l.known[name]
	if f == nil {
		if letters := l.letters(word); letters != nil {
			return slices.Concat(letters, args[1:])
		}
		l.reject(UnknownFlag(word, l.typed[1], maps.Keys(l.known)))
		return args[1:]
	}
	used := 1
	if !f.IsSwitch && !hasValue {
		if len(args) == 1 {
			l.reject(Usage("%s needs a value", word))
			return nil
		}
		value, used = args[1], 2
	}
	l.typed = append(l.typed, args[:used]...)
	l.set(f, name, value, hasValue)
	return args[used:]
}

// set sets a flag. name is the typed name. A switch without a value is true.
func (l *Line) set(f *Flag, name, value string, hasValue bool) {
	if f.IsSwitch && !hasValue {
		value = "true"
	}
	f.Typed = true
	if len(name) == 1 {
		name = f.Name
	}
	l.reject(f.set("--"+name, value))
}

// Misplaced returns a usage error if err says that the hook does not accept a word that is a flag
// of pyplug, such as --raw. For a flag with one dash, which may be data, it only adds a hint to
// err. It returns all other errors unchanged.
func (l *Line) Misplaced(err error) error {
	e := (*hook.Error)(nil)
	if l == nil || !l.InData() || !errors.As(err, &e) || e.Kind != hook.Request || e.Word < 1 || e.Word > len(l.Words)-l.Names {
		return err
	}
	word := l.Words[l.Names+e.Word-1]
	hint, ok := l.reordered(e.Word - 1)
	switch {
	case !ok || !strings.HasPrefix(word, "-"):
		return err
	case !strings.HasPrefix(word, "--"):
		return Hinted(err, hint)
	}
	return Hinted(Usage("%s comes after HOOK, where every word is an argument of the hook", word),
		hint, schema.Hintf("pass it to the hook as text: %s", schema.QuoteLine([]string{"=" + word})))
}

// reordered returns a hint with the command line in which the data word at an index is a flag. ok
// is false if there is no such flag.
func (l *Line) reordered(at int) (hint schema.Hint, ok bool) {
	names, data := l.Words[:l.Names], l.Words[l.Names:]
	name, _, hasValue := Cut(data[at])
	f := l.known[name]
	if f == nil {
		return schema.Hint{}, false
	}
	if f.Name == "help" {
		return schema.Hintf("read the help of the hook: %s", schema.QuoteLine(slices.Concat(l.typed, manifest.TypedWords(names), []string{"--help"}))), true
	}
	typed, rest := data[at:at+1], data[at+1:]
	if !f.IsSwitch && !hasValue {
		value := []string{f.placeholder()}
		if len(rest) > 0 {
			value, rest = rest[:1], rest[1:]
		}
		typed = slices.Concat(typed, value)
	}
	line := schema.QuoteLine(slices.Concat(l.typed, typed, manifest.TypedWords(names), data[:at], rest))
	return schema.Hintf("pass it to pyplug: %s", line), true
}

// reject records an error. The first one counts.
func (l *Line) reject(err error) {
	if l.err == nil {
		l.err = err
	}
}

// letters splits -vq into -v -q, and -j2 into -j 2. It returns nil for any other word.
func (l *Line) letters(word string) []string {
	if strings.HasPrefix(word, "--") {
		return nil
	}
	var flags []string
	for i, letter := range word[1:] {
		f := l.known[string(letter)]
		if f == nil {
			return nil
		}
		flags = append(flags, "-"+string(letter))
		if f.IsSwitch {
			continue
		}
		if value := word[1+i+1:]; value != "" {
			return append(flags, value)
		}
		return nil // a letter whose value is the next word must have its own dash
	}
	return flags
}

// Cut splits --name=value. A flag may have one dash or two.
func Cut(word string) (name, value string, hasValue bool) {
	return strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
}

// ByName maps the names of a command's flags to the flags.
func ByName(c *cli.Command) map[string]*Flag {
	known := map[string]*Flag{}
	for _, f := range c.Flags {
		for _, name := range f.Names() {
			known[name] = FlagOf(f)
		}
	}
	return known
}

// WantWords returns a usage error unless the words have a form such as "PLUGIN [HOOK]", "NAME..."
// or "PLUGIN HOOK ...", where any words may follow. No word that the form names may be empty.
func WantWords(words []string, form string) error {
	names := strings.Fields(form)
	for n := len(names); strings.Contains(form, "...") && len(names) < len(words); {
		names = append(names, names[n-1])
	}
	for i, name := range names {
		optional := strings.HasPrefix(name, "[")
		name = strings.Trim(name, "[].")
		switch {
		case name == "", optional && i == len(words):
			return nil
		case i == len(words):
			return Usage("%s is missing", name)
		case words[i] == "":
			return Usage("%s is empty", name)
		}
	}
	if len(words) > len(names) {
		return Usage("unexpected argument: %s", schema.QuoteLine(words[len(names):len(names)+1]))
	}
	return nil
}
