package cmdline

import (
	stdflag "flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// Flag is a flag of a command. [Read] sets it, because urfave/cli stops at the first word that is
// not a flag.
type Flag struct {
	Name     string
	Aliases  []string
	Usage    string // the placeholder of its value is in backquotes
	Category string // the heading in the help
	Env      string // the environment variable that sets it if it is not typed, or ""
	Unread   bool   // another package reads Env
	Rare     bool   // only --help-all shows it

	// Parse checks a value and stores it where the declaration says. Its error follows the flag's
	// name: `is "x", expected …`.
	Parse func(text string) error
	Texts []string // the given values; only the last one unless Repeated is set
	Typed bool     // whether it was typed on the command line

	IsSwitch bool // it may be given without a value, which means "true"
	Repeated bool // it may be given more than once
	// Candidates are the values that shell completion offers. IsFile offers files instead.
	Candidates []string
	IsFile     bool
}

// Names and the methods below implement [cli.Flag].
func (f *Flag) Names() []string { return append([]string{f.Name}, f.Aliases...) }

// Apply does nothing, because urfave/cli does not set the flag.
func (f *Flag) Apply(*stdflag.FlagSet) error { return nil }

// IsSet reports whether the flag has a value.
func (f *Flag) IsSet() bool { return len(f.Texts) > 0 }

// String returns the name of the flag.
func (f *Flag) String() string { return f.Name }

// set checks and stores a value. The error names from, the source of the value.
func (f *Flag) set(from, text string) error {
	if !f.Repeated {
		f.Texts = nil
	}
	f.Texts = append(f.Texts, text)
	if err := f.Parse(text); err != nil {
		return Usage("%s %w", from, err)
	}
	return nil
}

// SetFromEnvironment sets the flags that were not typed. An empty variable counts as unset.
func SetFromEnvironment(flags Flags) error {
	for _, f := range flags {
		f := FlagOf(f)
		text := os.Getenv(f.Env)
		if f.Env == "" || f.Unread || f.Typed || text == "" {
			continue
		}
		if err := f.set(fmt.Sprintf("environment variable %q", f.Env), text); err != nil {
			return err
		}
	}
	return nil
}

// Flags is a list of flags, as urfave/cli takes them.
type Flags = []cli.Flag

// FlagOf returns the flag in the interface. All flags have this type.
func FlagOf(f cli.Flag) *Flag { return f.(*Flag) }

// New declares a flag.
func New(name, usage string, parse func(text string) error) *Flag {
	return &Flag{Name: name, Usage: usage, Parse: parse}
}

// Switch declares a flag without a value.
func Switch(to *bool, name, usage string) *Flag {
	f := New(name, usage, func(text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("is %q, expected true or false", text)
		}
		*to = on
		return nil
	})
	f.IsSwitch = true
	return f
}

// Name declares a flag with a text. It rejects an empty text, such as an unset shell variable.
func Name(to *string, name, usage string) *Flag {
	return New(name, usage, func(text string) error {
		*to = text
		return notEmpty(text)
	})
}

func notEmpty(text string) error {
	if text == "" {
		return fmt.Errorf("is empty, expected a name")
	}
	return nil
}

// File is like [Name], for a flag that names a file or a directory.
func File(to *string, name, usage string) *Flag {
	f := Name(to, name, usage)
	f.IsFile = true
	return f
}

// Texts declares a flag with any text. It may be given more than once.
func Texts(to *[]string, name, usage string) *Flag {
	return New(name, usage, func(text string) error {
		*to = append(*to, text)
		return nil
	}).Repeat()
}

// Repeat allows a flag more than once.
func (f *Flag) Repeat() *Flag {
	f.Repeated = true
	return f
}

// Alias adds another name of a flag, such as its letter.
func (f *Flag) Alias(names ...string) *Flag {
	f.Aliases = append(f.Aliases, names...)
	return f
}

// FromEnv sets a flag from an environment variable unless it is typed.
func (f *Flag) FromEnv(variable string) *Flag {
	f.Env = variable
	return f
}

// Seldom marks a rarely used flag.
func (f *Flag) Seldom() *Flag {
	f.Rare = true
	return f
}

// Then makes the flag call do after each valid value.
func (f *Flag) Then(do func()) *Flag {
	parse := f.Parse
	f.Parse = func(text string) error {
		err := parse(text)
		if err == nil {
			do()
		}
		return err
	}
	return f
}

// Choice declares a flag whose value is one of several words.
func Choice(to *string, name, usage string, words ...string) *Flag {
	last := len(words) - 1
	wanted := strings.Join(words[:last], ", ") + " or " + words[last]
	f := New(name, usage, func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("is %q, expected %s", text, wanted)
		}
		*to = text
		return nil
	})
	f.Candidates = words
	return f
}

// List declares a flag whose value is some of several words, separated by commas. It may be given
// more than once.
func List(to *[]string, name, usage string, known []string) *Flag {
	f := New(name, usage, func(text string) error {
		for word := range strings.SplitSeq(text, ",") {
			if !slices.Contains(known, word) {
				return fmt.Errorf("is %q, expected one or more of %s", word, strings.Join(known, ", "))
			}
			*to = append(*to, word)
		}
		return nil
	})
	f.Candidates = known
	return f.Repeat()
}

// Count declares a flag whose value is a whole number.
func Count(to *int, least, most int, name, usage string) *Flag {
	return New(name, usage, func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return fmt.Errorf("is %q, expected a number from %d to %d", text, least, most)
		}
		*to = n
		return nil
	})
}

// Duration declares a flag whose value is a duration such as 30s or 2m, or a number of seconds.
func Duration(to *time.Duration, name, usage string) *Flag {
	return New(name, usage, func(text string) error {
		d, ok := schema.ParseDuration(text)
		if !ok {
			return fmt.Errorf("is %q, expected a duration such as 30s, 2m or a number of seconds", text)
		}
		*to = d
		return nil
	})
}

// Setting declares the flag of a setting. usual contains the defaults of the command.
func Setting(to *settings.Settings, row *settings.Row, usual *settings.Settings) *Flag {
	f := New(row.Flag, row.Usage(usual), func(text string) error { return row.Set(to, text) })
	f.Env, f.Unread, f.Rare = row.Variable, row.Unread, row.Rare
	f.IsSwitch, f.Repeated, f.Candidates, f.IsFile = row.IsSwitch(), row.Repeats(), row.Words, row.File
	if row.Letter != "" {
		f.Alias(row.Letter)
	}
	return f
}

// InCategory puts flags under a heading of the help.
func InCategory(category string, flags ...cli.Flag) Flags {
	for _, f := range flags {
		FlagOf(f).Category = category
	}
	return flags
}

// Words returns the words that set the same flags in another pyplug, whether they were
// typed or came from the environment.
func Words(flags Flags) []string {
	var words []string
	for _, f := range flags {
		for _, text := range FlagOf(f).Texts {
			words = append(words, "--"+FlagOf(f).Name+"="+text)
		}
	}
	return words
}

// Only rejects flags that apply only to some forms of a command, such as "to a single call", unless
// the command line has one of these forms.
func Only(applies bool, forms string, flags Flags) error {
	if name := FirstTyped(flags); name != "" && !applies {
		return Usage("%s applies only %s", name, forms)
	}
	return nil
}

// FirstTyped returns the first flag that was typed, or "". Flags from the environment do not count,
// because they may be meant for other commands.
func FirstTyped(flags Flags) string {
	for _, f := range flags {
		if FlagOf(f).Typed {
			return "--" + FlagOf(f).Name
		}
	}
	return ""
}
