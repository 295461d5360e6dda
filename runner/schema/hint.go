package schema

import "slices"

// Hint says what to do about an error. The settings and commands that it names are data:
// hook.Word formats them for the command line.
type Hint struct {
	format string
	args   []any
}

// The types of arguments that a program may look for in a hint, see [Hint.Has].
type (
	// Setting is a setting of pyplug, identified by its flag. CallSetting is a setting that each
	// call has.
	Setting     string
	CallSetting string
	// Command is a command of pyplug with its arguments.
	Command []string
	// EnvLine is a command line that makes an environment. Only a new start uses the environment.
	EnvLine string
)

// Hintf returns a hint from a format and its arguments: a [Setting], a [CallSetting], a [Command],
// an [EnvLine], another hint or a text. If there are no arguments, the format is the text.
func Hintf(format string, args ...any) Hint { return Hint{format, args} }

// Hints returns one hint as a list, see [Hintf].
func Hints(format string, args ...any) []Hint { return []Hint{Hintf(format, args...)} }

// Parts returns the arguments of [Hintf]. Only hook.Word needs them.
func (h Hint) Parts() (format string, args []any) { return h.format, h.args }

// IsZero reports whether the hint is empty.
func (h Hint) IsZero() bool { return h.format == "" }

// Has reports whether is(arg) is true for an argument arg of the hint or of a nested hint.
func (h Hint) Has(is func(arg any) bool) bool {
	return slices.ContainsFunc(h.args, func(arg any) bool {
		inner, nested := arg.(Hint)
		return nested && inner.Has(is) || !nested && is(arg)
	})
}
