package cmdline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/commands/ui"
)

// WriteHelp writes a group of flags, in alphabetical order.
func WriteHelp(b *strings.Builder, category string, flags []*Flag) {
	ui.WriteTitle(b, cmp.Or(category, "Flags"))
	slices.SortFunc(flags, func(a, b *Flag) int { return strings.Compare(a.Name, b.Name) })
	const widest = 26
	column := 0
	for _, f := range flags {
		if n := len(f.form()); n <= widest {
			column = max(column, n+2)
		}
	}
	for _, f := range flags {
		ui.WriteEntry(b, f.form(), f.explained(), column)
	}
}

// form returns the form of a flag in the help, such as " -j, --jobs N".
func (f *Flag) form() string {
	text := "      --" + f.Name
	for _, alias := range f.Aliases {
		if len(alias) == 1 {
			text = "  -" + alias + ", " + text[6:]
		} else {
			text += ", --" + alias
		}
	}
	if f.IsSwitch {
		return text
	}
	return text + " " + f.placeholder()
}

// placeholder returns the word for the value of a flag that is not a switch.
func (f *Flag) placeholder() string { return strings.Split(f.Usage, "`")[1] }

// explained returns the description of a flag.
func (f *Flag) explained() string {
	text := strings.ReplaceAll(f.Usage, "`", "")
	if f.Repeated {
		text += " (may be repeated)"
	}
	if f.Env != "" {
		text += " [$" + f.Env + "]"
	}
	return text
}
