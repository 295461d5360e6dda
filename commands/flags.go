package commands

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/manifest"
)

// flagValue is the value of every flag of ours. It checks a text when the flag is
// given and stores what it means where the flag's declaration says.
type flagValue struct {
	parse func(text string) error // its error reads after the flag's name: `is "x", want …`
	texts []string                // as given; of a flag that is not repeated the last one
	// isSwitch allows the flag without a value, which then is "true".
	isSwitch bool
	// repeated allows the flag more than once.
	repeated bool
	// candidates are offered by shell completion; files offers files.
	candidates []string
	files      bool
}

// sameValue is what urfave/cli copies to the other names of a flag. They share
// one value, so there is nothing to copy. No argument contains a NUL byte.
const sameValue = "\x00"

// Serialize implements [cli.Serializer].
func (v *flagValue) Serialize() string { return sameValue }

// IsBoolFlag is for package flag.
func (v *flagValue) IsBoolFlag() bool { return v.isSwitch }

// Set implements [cli.Generic].
func (v *flagValue) Set(text string) error {
	if text == sameValue {
		return nil
	}
	if err := v.parse(text); err != nil {
		return err
	}
	if !v.repeated {
		v.texts = nil
	}
	v.texts = append(v.texts, text)
	return nil
}

// String is the text that was given last.
func (v *flagValue) String() string {
	if v == nil || len(v.texts) == 0 {
		return ""
	}
	return v.texts[len(v.texts)-1]
}

// newFlag declares a flag. In usage the placeholder of its value is in backquotes.
func newFlag(name, usage string, parse func(text string) error) *cli.GenericFlag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &flagValue{parse: parse}}
}

// valueOf is the value of a flag of ours. urfave's own --help is a switch, too.
func valueOf(flag cli.Flag) *flagValue {
	if generic, ok := flag.(*cli.GenericFlag); ok {
		return generic.Value.(*flagValue)
	}
	return &flagValue{isSwitch: true}
}

// switchFlag declares a flag without a value.
func switchFlag(to *bool, name, usage string) *cli.GenericFlag {
	flag := newFlag(name, usage, func(text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("is %q, want true or false", text)
		}
		*to = on
		return nil
	})
	valueOf(flag).isSwitch = true
	return flag
}

// textFlag takes any text.
func textFlag(to *string, name, usage string) *cli.GenericFlag {
	return newFlag(name, usage, func(text string) error {
		*to = text
		return nil
	})
}

// nameFlag takes a text that is not empty, which a shell variable may be by mistake.
func nameFlag(to *string, name, usage string) *cli.GenericFlag {
	return newFlag(name, usage, func(text string) error {
		*to = text
		return notEmpty(text)
	})
}

// namesFlag is a nameFlag that may be given more than once.
func namesFlag(to *[]string, name, usage string) *cli.GenericFlag {
	return repeated(newFlag(name, usage, func(text string) error {
		*to = append(*to, text)
		return notEmpty(text)
	}))
}

// fileFlag is a nameFlag that names a file or a directory.
func fileFlag(to *string, name, usage string) *cli.GenericFlag {
	flag := nameFlag(to, name, usage)
	valueOf(flag).files = true
	return flag
}

// filesFlag is a fileFlag that may be given more than once.
func filesFlag(to *[]string, name, usage string) *cli.GenericFlag {
	flag := namesFlag(to, name, usage)
	valueOf(flag).files = true
	return flag
}

// repeated allows a flag more than once.
func repeated(flag *cli.GenericFlag) *cli.GenericFlag {
	valueOf(flag).repeated = true
	return flag
}

// fromEnv has a variable of the environment set a flag that is not given.
func fromEnv(flag *cli.GenericFlag, variable string) *cli.GenericFlag {
	flag.EnvVars = []string{variable}
	return flag
}

func notEmpty(text string) error {
	if text == "" {
		return fmt.Errorf("is empty, want a name")
	}
	return nil
}

// choiceFlag takes one of several words.
func choiceFlag(to *string, name, usage string, words ...string) *cli.GenericFlag {
	last := len(words) - 1
	wanted := strings.Join(words[:last], ", ") + " or " + words[last]
	flag := newFlag(name, usage, func(text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("is %q, want %s", text, wanted)
		}
		*to = text
		return nil
	})
	valueOf(flag).candidates = words
	return flag
}

// listFlag takes words that are separated by commas; of known words, unless there
// are none. It may be given more than once.
func listFlag(to *[]string, name, usage string, known []string) *cli.GenericFlag {
	flag := repeated(newFlag(name, usage, func(text string) error {
		for word := range strings.SplitSeq(text, ",") {
			if !slices.Contains(known, word) {
				return fmt.Errorf("is %q, want some of %s", word, strings.Join(known, ", "))
			}
			*to = append(*to, word)
		}
		return nil
	}))
	valueOf(flag).candidates = known
	return flag
}

// countFlag takes a whole number.
func countFlag(to *int, least, most int, name, usage string) *cli.GenericFlag {
	return newFlag(name, usage, func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return fmt.Errorf("is %q, want a number from %d to %d", text, least, most)
		}
		*to = n
		return nil
	})
}

// limitFlag is a countFlag where 0 stands for no limit, which becomes -1.
func limitFlag(to *int, most int, name, usage string) *cli.GenericFlag {
	flag := countFlag(to, 0, most, name, usage)
	return zeroMeans(flag, func() { *to = none })
}

// none is a limit that was set to none.
const none = -1

// zeroMeans has the flag's number 0 stand for something else.
func zeroMeans(flag *cli.GenericFlag, set func()) *cli.GenericFlag {
	value := valueOf(flag)
	parse := value.parse
	value.parse = func(text string) error {
		err := parse(text)
		if n, bad := strconv.ParseFloat(strings.TrimRight(text, "hmsun"), 64); err == nil && bad == nil && n == 0 {
			set()
		}
		return err
	}
	return flag
}

// sizeFlag takes a number of bytes such as 512MB; least and most are in bytes and
// least names itself in the error.
func sizeFlag(to *int64, least, most int64, wanted, name, usage string) *cli.GenericFlag {
	return newFlag(name, usage, func(text string) error {
		size, ok := manifest.ParseSize(text)
		if !ok || size > most {
			return fmt.Errorf("is %q, want a size such as %s", text, wanted)
		}
		if size != 0 && size < least {
			return fmt.Errorf("is %q, want at least 1MB", text)
		}
		*to = size
		return nil
	})
}

// durationFlag takes 30s, 2m or a number of seconds. 0 means no limit, which is
// [runner.Forever].
func durationFlag(to *time.Duration, name, usage string) *cli.GenericFlag {
	return delayFlag(to, runner.Forever, name, usage)
}

// delayFlag is a durationFlag where 0 means zero.
func delayFlag(to *time.Duration, zero time.Duration, name, usage string) *cli.GenericFlag {
	return newFlag(name, usage, func(text string) error {
		d, ok := parseDuration(text)
		if !ok {
			return fmt.Errorf("is %q, want a duration such as 30s, 2m or a number of seconds", text)
		}
		if *to = d; d == 0 {
			*to = zero
		}
		return nil
	})
}

// parseDuration reads a duration that is not negative.
func parseDuration(text string) (d time.Duration, ok bool) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds >= 0 && seconds <= runner.Forever.Seconds()) { // nor a NaN
			return 0, false
		}
		return time.Duration(seconds * float64(time.Second)), true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

// inCategory puts flags under a heading of the help.
func inCategory(category string, flags ...cli.Flag) []cli.Flag {
	for _, flag := range flags {
		if generic, ok := flag.(*cli.GenericFlag); ok {
			generic.Category = category
		}
	}
	return flags
}

// The forms in which packages flag and cli report an error of [flagValue.Set], of a
// switch, and of a variable of the environment.
var (
	flagError = regexp.MustCompile(`(?s)^invalid (?:boolean )?value ".*" for (?:flag )?-([\w-]+): (.*)$`)
	envError  = regexp.MustCompile(`(?s)^could not parse ".*" from (environment variable .*) as value for flag [\w-]+: (.*)$`)
)

// usageError is the error of a flag's value in our words.
func usageError(_ *cli.Context, err error, _ bool) error {
	if m := flagError.FindStringSubmatch(err.Error()); m != nil {
		dashes := "--"
		if len(m[1]) == 1 {
			dashes = "-"
		}
		err = joinError(dashes+m[1], m[2])
	} else if m := envError.FindStringSubmatch(err.Error()); m != nil {
		err = joinError(m[1], m[2])
	}
	return hook.NewError(hook.Usage, err)
}

// joinError makes one sentence of what is wrong and how.
func joinError(subject, wrong string) error {
	if strings.HasPrefix(wrong, "is ") || strings.HasPrefix(wrong, "has ") {
		return fmt.Errorf("%s %s", subject, wrong)
	}
	return fmt.Errorf("%s: %s", subject, wrong)
}

// flagWords are the flags of a command line as another pyplug can be given them,
// whether they were typed or came from the environment.
func flagWords(flags []cli.Flag) []string {
	var words []string
	for _, flag := range flags {
		for _, text := range valueOf(flag).texts {
			words = append(words, "--"+flag.Names()[0]+"="+text)
		}
	}
	return words
}

// isGiven reports whether a flag was typed or came from the environment.
func isGiven(flag cli.Flag) bool { return len(valueOf(flag).texts) > 0 }
