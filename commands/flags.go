package commands

import (
	stdflag "flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/manifest"
	"github.com/pyplug/pyplug/runner/schema"
)

// flag is a flag of a command. [readLine] sets it, since urfave/cli stops at the first word
// that is no flag.
type flag struct {
	Name     string
	Aliases  []string
	Usage    string // the placeholder of its value is in backquotes
	Category string // the heading in the help
	env      string // the variable of the environment that sets it if it is not typed; empty: none

	// parse checks a value and stores it where the declaration says. Its error reads
	// after the flag's name: `is "x", want …`.
	parse func(text string) error
	texts []string // the values as given; only the last one unless the flag is repeated
	typed bool     // on the command line

	isSwitch bool // it may stand without a value, which then is "true"
	repeated bool // it may be given more than once
	// isPlugin is a flag that names what is called, in place of the word before HOOK.
	isPlugin bool
	// candidates are offered by shell completion, or files, which is [anyFile].
	candidates []string
	files      string
}

// Names and the methods below implement [cli.Flag].
func (f *flag) Names() []string { return append([]string{f.Name}, f.Aliases...) }

// Apply does nothing: urfave/cli does not set it.
func (f *flag) Apply(*stdflag.FlagSet) error { return nil }

// IsSet reports whether the flag has a value.
func (f *flag) IsSet() bool { return len(f.texts) > 0 }

// String returns the name of the flag.
func (f *flag) String() string { return f.Name }

// set checks and stores a value. The error names from, the source of the value.
func (f *flag) set(from, text string) error {
	if !f.repeated {
		f.texts = nil
	}
	f.texts = append(f.texts, text)
	if err := f.parse(text); err != nil {
		return usage("%s %w", from, err)
	}
	return nil
}

// setFromEnvironment sets the flags that were not typed. An empty variable counts as unset.
func setFromEnvironment(flags []cli.Flag) error {
	for _, f := range flags {
		f := valueOf(f)
		text := os.Getenv(f.env)
		if f.env == "" || f.typed || text == "" {
			continue
		}
		if err := f.set(fmt.Sprintf("environment variable %q", f.env), text); err != nil {
			return err
		}
	}
	return nil
}

// valueOf returns the flag behind the interface. All flags have this type.
func valueOf(f cli.Flag) *flag { return f.(*flag) }

// newFlag declares a flag.
func newFlag(name, usage string, parse func(text string) error) *flag {
	return &flag{Name: name, Usage: usage, parse: parse}
}

// switchFlag declares a flag without a value.
func switchFlag(to *bool, name, usage string) *flag {
	f := newFlag(name, usage, func(text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("is %q, want true or false", text)
		}
		*to = on
		return nil
	})
	f.isSwitch = true
	return f
}

// nameFlag takes a text. It rejects an empty one, such as an unset shell variable.
func nameFlag(to *string, name, usage string) *flag {
	return newFlag(name, usage, func(text string) error {
		*to = text
		return notEmpty(text)
	})
}

func notEmpty(text string) error {
	if text == "" {
		return fmt.Errorf("is empty, want a name")
	}
	return nil
}

// fileFlag is a nameFlag that names a file or a directory.
func fileFlag(to *string, name, usage string) *flag {
	f := nameFlag(to, name, usage)
	f.files = anyFile
	return f
}

// filesFlag is a fileFlag that may be given more than once.
func filesFlag(to *[]string, name, usage string) *flag {
	f := newFlag(name, usage, func(text string) error {
		*to = append(*to, text)
		return notEmpty(text)
	})
	f.files = anyFile
	return repeated(f)
}

// repeated allows a flag more than once.
func repeated(f *flag) *flag {
	f.repeated = true
	return f
}

// alias adds another name of a flag, such as its letter.
func alias(f *flag, names ...string) *flag {
	f.Aliases = append(f.Aliases, names...)
	return f
}

// fromEnv sets a flag from an environment variable unless it is typed.
func fromEnv(f *flag, variable string) *flag {
	f.env = variable
	return f
}

// then calls do after each valid value.
func then(f *flag, do func()) *flag {
	parse := f.parse
	f.parse = func(text string) error {
		err := parse(text)
		if err == nil {
			do()
		}
		return err
	}
	return f
}

// choiceFlag takes one of several words.
func choiceFlag(to *string, name, usage string, words ...string) *flag {
	last := len(words) - 1
	wanted := strings.Join(words[:last], ", ") + " or " + words[last]
	f := newFlag(name, usage, func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("is %q, want %s", text, wanted)
		}
		*to = text
		return nil
	})
	f.candidates = words
	return f
}

// listFlag takes some of several words, separated by commas. It may be given more than
// once.
func listFlag(to *[]string, name, usage string, known []string) *flag {
	f := newFlag(name, usage, func(text string) error {
		for word := range strings.SplitSeq(text, ",") {
			if !slices.Contains(known, word) {
				return fmt.Errorf("is %q, want some of %s", word, strings.Join(known, ", "))
			}
			*to = append(*to, word)
		}
		return nil
	})
	f.candidates = known
	return repeated(f)
}

// countFlag takes a whole number.
func countFlag(to *int, least, most int, name, usage string) *flag {
	return newFlag(name, usage, func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return fmt.Errorf("is %q, want a number from %d to %d", text, least, most)
		}
		*to = n
		return nil
	})
}

// sizeFlag takes a number of bytes such as 512MB, from least to most. 0 is stored as zero; if zero
// is 0, it is rejected.
func sizeFlag[T int | int64](to *T, zero T, least, most int64, name, usage string) *flag {
	return newFlag(name, usage, func(text string) error {
		size, ok := manifest.ParseSize(text)
		if !ok || size > most || size < least && (size != 0 || zero == 0) {
			return fmt.Errorf("is %q, want a size such as 512MB, at least %d bytes", text, least)
		}
		if *to = T(size); size == 0 {
			*to = zero
		}
		return nil
	})
}

// durationFlag takes 30s, 2m or a number of seconds. 0 means no limit and is stored as
// [runner.Forever].
func durationFlag(to *time.Duration, name, usage string) *flag {
	return delayFlag(to, runner.Forever, name, usage)
}

// delayFlag is a durationFlag that stores zero when the flag is set to 0.
func delayFlag(to *time.Duration, zero time.Duration, name, usage string) *flag {
	return orZero(to, zero, newFlag(name, usage, func(text string) error {
		d, ok := schema.ParseDuration(text)
		if !ok {
			return fmt.Errorf("is %q, want a duration such as 30s, 2m or a number of seconds", text)
		}
		*to = d
		return nil
	}))
}

// none stands for a limit of 0 on the command line: no limit, whatever the manifest says.
const none = -1

// orZero stores zero when the flag is set to 0.
func orZero[T int | int64 | time.Duration](to *T, zero T, f *flag) *flag {
	return then(f, func() {
		if *to == 0 {
			*to = zero
		}
	})
}

// inCategory puts flags under a heading of the help.
func inCategory(category string, flags ...cli.Flag) []cli.Flag {
	for _, f := range flags {
		valueOf(f).Category = category
	}
	return flags
}

// flagWords returns the words that set the same flags in another pyplug, whether they were
// typed or came from the environment.
func flagWords(flags []cli.Flag) []string {
	var words []string
	for _, f := range flags {
		for _, text := range valueOf(f).texts {
			words = append(words, "--"+valueOf(f).Name+"="+text)
		}
	}
	return words
}

// isTyped reports whether a flag of a command was typed.
func isTyped(cmd command, name string) bool {
	f := flagsOf(cmd.Command)[name]
	return f != nil && f.typed
}

// flagGroup holds flags that apply only to some forms of a command. applies reports whether the
// command line has one of these forms.
type flagGroup struct {
	applies bool
	forms   string // such as "to a single call"
	flags   []cli.Flag
}

// onlyFor rejects flags that do not apply.
func onlyFor(groups ...flagGroup) error {
	for _, g := range groups {
		if name := firstTyped(g.flags); name != "" && !g.applies {
			return usage("%s applies only %s", name, g.forms)
		}
	}
	return nil
}

// firstTyped returns the first flag that was typed, or "". Flags that the environment sets do
// not count, because they may be meant for other commands.
func firstTyped(flags []cli.Flag) string {
	for _, f := range flags {
		if valueOf(f).typed {
			return "--" + valueOf(f).Name
		}
	}
	return ""
}
