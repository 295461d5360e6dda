package schema

import "slices"

// Hint says what to do about an error. The settings and commands that it names are data:
// hook.Word words them for those who type commands.
type Hint struct {
	format string
	args   []any
}

// What a program finds in a hint, see [Hint.Has].
type (
	// Setting is a setting of pyplug, by the name of its flag.
	Setting string
	// Command is a command of pyplug with its arguments.
	Command []string
	// EnvLine is a command line that makes an environment, which only a new start uses.
	EnvLine string
)

// Hintf returns a hint made of a format and what stands in it: a [Setting], a [Command], an
// [EnvLine], another hint or a text. Without args the format is the text.
func Hintf(format string, args ...any) Hint { return Hint{format, args} }

// Hints returns one hint as a list, see [Hintf].
func Hints(format string, args ...any) []Hint { return []Hint{Hintf(format, args...)} }

// Advice is the hints of an error whose type embeds it.
type Advice []Hint

// Hints returns the hints.
func (a Advice) Hints() []Hint { return a }

// Parts returns what [Hintf] got. Only hook.Word needs it.
func (h Hint) Parts() (format string, args []any) { return h.format, h.args }

// IsZero reports whether the hint says nothing.
func (h Hint) IsZero() bool { return h.format == "" }

// Has reports whether is holds for anything that stands in the hint.
func (h Hint) Has(is func(arg any) bool) bool {
	return slices.ContainsFunc(h.args, func(arg any) bool {
		inner, nested := arg.(Hint)
		return nested && inner.Has(is) || !nested && is(arg)
	})
}
