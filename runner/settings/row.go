package settings

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// Row declares one setting.
type Row struct {
	// Flag, Variable and Key are its names on the command line, in the environment and in the
	// manifest. A name is empty if the setting cannot be set there. Letter is the short name of the
	// flag.
	Flag, Letter, Variable, Key string
	// Help says what the setting does. The placeholder of its value is in backquotes.
	Help string
	// Commands says which commands have the flag. Only --help-all shows Rare flags.
	Commands Commands
	Rare     bool
	// Only is the only transport that the setting applies to, or "".
	Only string

	// Default is the default, written as for a flag. ServerDefault is the default for gRPC plugins
	// if it differs. Shown replaces both in texts.
	Default, ServerDefault, Shown string
	// Least and Most are the range of a number or a size. If Most is 0, there is no upper limit.
	Least, Most int64
	// Zero is the value that represents 0, such as [NoLimit], or 0 if 0 has no meaning of its own.
	Zero int64
	// Words are the valid texts. For a number, the word stands for [Auto].
	Words []string
	// File reports whether the value names a file or a directory.
	File bool
	// Decides reports whether the flag makes the plugin a gRPC plugin.
	Decides bool
	// Secret reports that the value may contain a secret after a name, as in NAME=SECRET.
	Secret bool
	// Unread reports that the flag ignores the variable: interp reads it and names it in messages.
	Unread bool
	// Matters says which uses of a plugin depend on the setting.
	Matters Matters

	// check returns what is wrong with a text, as the end of a message. If check is nil, the text
	// must not be empty.
	check func(text string) error
	// field returns a pointer to the field of the setting.
	field func(s *Settings) any
}

// Commands is a group of commands that have the same flags.
type Commands uint8

// The groups. A command may be in several.
const (
	NoCommand  Commands = iota // the setting has no flag
	Find                       // commands that look for a Python
	Start                      // commands that start a plugin
	Result                     // commands that print results
	Keep                       // commands that keep a plugin alive
	Call                       // commands that make calls
	Background                 // commands that keep a plugin alive under a name
)

// blank is used to find out the type of a field.
var blank Settings

// Matters says which uses of a plugin depend on a setting, for [Settings.Digest].
type Matters uint8

// The values of Matters.
const (
	ToAll     Matters = iota // every use of a running plugin depends on it
	ToStart                  // only starts depend on it: a call has its own value, or does not need it
	ToNothing                // it only helps to find the plugin and its Python
)

// Name returns the name of the setting: its flag, or else its key.
func (r *Row) Name() string { return cmp.Or(r.Flag, r.Key) }

// Mistake says what is wrong with a value. Its text follows the name of a flag or a key: `is "x",
// expected …`.
type Mistake struct {
	// Path is the path from the setting to the wrong part of its value.
	Path []string
	Text string // empty if the key is unknown
	// Hints say what to do.
	Hints []schema.Hint
}

// Within adds steps to the front of the path.
func (m *Mistake) Within(steps ...string) *Mistake {
	m.Path = slices.Concat(steps, m.Path)
	return m
}

// Wrong returns the mistake for an invalid value of a manifest. wanted describes the valid values.
func Wrong(value any, wanted string) *Mistake {
	return &Mistake{Text: "is " + show(value) + ", expected " + wanted}
}

// Set stores a value that is written as for a flag. It appends the value to a list. The error is a
// [*hook.Error].
func (r *Row) Set(s *Settings, text string) error {
	if m := r.set(s, text, strconv.Quote(text)); m != nil {
		return &hook.Error{Kind: hook.Usage, Err: errors.New(m.Text), Hints: m.Hints}
	}
	return nil
}

// set stores a value. shown is the value in messages.
func (r *Row) set(s *Settings, text, shown string) *Mistake {
	valid := false
	switch to := r.field(s).(type) {
	case *Bool:
		on, err := strconv.ParseBool(text)
		if *to, valid = Off, err == nil; on {
			*to = On
		}
	case *int:
		n, err := strconv.Atoi(text)
		if slices.Contains(r.Words, text) {
			*to, valid = Auto, true
		} else if valid = err == nil && r.inRange(int64(n)); valid {
			*to = cmp.Or(n, int(r.Zero))
		}
	case *int64:
		n, isSize := ParseSize(text)
		if valid = isSize && r.inRange(n); valid {
			*to = cmp.Or(n, r.Zero)
		}
	case *time.Duration:
		d, isDuration := schema.ParseDuration(text)
		if valid = isDuration && r.inRange(int64(d)); valid {
			*to = cmp.Or(d, time.Duration(r.Zero))
		}
	case *[]int:
		*to = nil
		for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }) {
			n, err := strconv.Atoi(word)
			valid = err == nil && r.inRange(int64(n))
			if *to = append(*to, n); !valid {
				break
			}
		}
	case *[]string:
		*to = append(*to, text)
		return r.checkText(text, shown)
	case *string:
		if *to = text; len(r.Words) == 0 {
			return r.checkText(text, shown)
		}
		valid = slices.Contains(r.Words, text)
	}
	if valid {
		return nil
	}
	return &Mistake{Text: "is " + shown + ", expected " + r.wanted(), Hints: schema.DidYouMean(schema.Suggest(text, r.Words))}
}

// inRange reports whether a number is valid.
func (r *Row) inRange(n int64) bool {
	return n == 0 && r.Zero != 0 || n >= r.Least && (r.Most == 0 || n <= r.Most)
}

// checkText returns the mistake in a text for a setting without Words, or nil.
func (r *Row) checkText(text, shown string) *Mistake {
	switch {
	case strings.ContainsRune(text, 0):
		return &Mistake{Text: "is " + shown + ", expected a text without a zero byte"}
	case r.check != nil:
		if err := r.check(text); err != nil {
			return &Mistake{Text: err.Error()}
		}
	case text == "":
		return &Mistake{Text: "is empty, expected a name"}
	}
	return nil
}

// wanted describes the valid values.
func (r *Row) wanted() string {
	switch r.field(&blank).(type) {
	case *Bool:
		return "true or false"
	case *int:
		text := fmt.Sprintf("a number from %d to %d", r.Least, r.Most)
		if len(r.Words) > 0 {
			text += ", or " + r.oneOf()
		}
		return text
	case *int64:
		text := "a size such as 512MB"
		if r.Least > 1 {
			text += fmt.Sprintf(", at least %dMB", r.Least>>20)
		}
		return text + r.zeroText()
	case *time.Duration:
		return "a duration such as 30s, 2m or a number of seconds"
	case *[]int:
		return "numbers separated by commas"
	}
	return r.oneOf()
}

// oneOf lists the valid words.
func (r *Row) oneOf() string {
	last := len(r.Words) - 1
	if last == 0 {
		return r.Words[0]
	}
	return strings.Join(r.Words[:last], ", ") + " or " + r.Words[last]
}

// zeroText says what 0 means, if that is not obvious.
func (r *Row) zeroText() string {
	switch r.Zero {
	case 0:
		return ""
	case int64(AtOnce):
		return ", 0 for no wait"
	}
	return ", 0 for no limit"
}

// IsSwitch reports whether the flag may be given without a value.
func (r *Row) IsSwitch() bool {
	_, is := r.field(&blank).(*Bool)
	return is
}

// Repeats reports whether the flag may be given more than once. If so, the values of several
// sources are concatenated.
func (r *Row) Repeats() bool {
	_, is := r.field(&blank).(*[]string)
	return is
}

// value returns the value of the setting.
func (r *Row) value(s *Settings) reflect.Value { return reflect.ValueOf(r.field(s)).Elem() }

// IsSet reports whether the setting has a value.
func (r *Row) IsSet(s *Settings) bool { return !r.value(s).IsZero() }

// Usage returns the help of the flag: what it does, which words are valid, what 0 means and what
// the default is. usual contains the defaults of the command, which may differ from the general
// ones.
func (r *Row) Usage(usual *Settings) string {
	help := r.Help + r.zeroText()
	if _, isText := r.field(usual).(*string); isText && len(r.Words) > 0 {
		help += ": " + r.oneOf()
	}
	switch text := r.defaultText(usual); text {
	case "":
		return help
	case "0":
		return help + " (the default)"
	default:
		return help + " (default: " + text + ")"
	}
}

func (r *Row) defaultText(usual *Settings) string {
	text := cmp.Or(r.Shown, r.Default)
	if d, ok := r.field(usual).(*time.Duration); ok && *d != 0 {
		text = strings.Replace(d.String(), "m0s", "m", 1)
	} else if r.IsSet(usual) {
		text = fmt.Sprint(r.value(usual))
	}
	if r.ServerDefault != "" {
		text += "; a gRPC plugin: " + r.ServerDefault
	}
	return text
}
