package ui

import (
	"regexp"
	"strings"

	"github.com/fatih/color"
)

// Color is the colour of a text; 0 is none.
type Color int

// The colours that pyplug uses, and for what.
const (
	Bold   Color = iota + 1 // titles
	Red                     // error, failure
	Green                   // ok
	Yellow                  // warning
	Cyan                    // hint, note
	Dim                     // aside
)

var attributes = [...]color.Attribute{Bold: color.Bold, Red: color.FgRed, Green: color.FgGreen, Yellow: color.FgYellow, Cyan: color.FgCyan, Dim: color.Faint}

// SetColor sets colour by mode: "always", "never", or "auto", where the first
// of these decides: FORCE_COLOR or CLICOLOR_FORCE set and not "0", NO_COLOR set,
// TERM=dumb, each stream being a terminal.
func (s *Streams) SetColor(mode string) {
	set := func(name string) bool { v := s.Getenv(name); return v != "" && v != "0" }
	s.outColor, s.screen.color = s.OutTTY, s.ErrTTY
	switch {
	case mode == "always", mode == "auto" && (set("FORCE_COLOR") || set("CLICOLOR_FORCE")):
		s.outColor, s.screen.color = true, true
	case mode == "never", mode == "auto" && (s.Getenv("NO_COLOR") != "" || s.Getenv("TERM") == "dumb"):
		s.outColor, s.screen.color = false, false
	}
}

// A painted text stands between the mark of its colour and endMark. Marks are
// noncharacters, which Unicode reserves for use inside a program. All that text from
// elsewhere can do with them is to be coloured.
const (
	firstMark = '\uFDD0'
	endMark   = '\uFDEF'
)

var painted = regexp.MustCompile(`([\x{FDD1}-\x{FDD6}])([^\x{FDD0}-\x{FDEF}]*)\x{FDEF}`)

// Paint gives a text on one line a colour, if the stream that it is printed on has colours.
func Paint(c Color, text string) string {
	if c == 0 {
		return text
	}
	return string(firstMark+rune(c)) + text + string(endMark)
}

// shown is a text as it is printed for people: visible, and coloured if colored is set.
func shown(colored bool, text string) string {
	switch {
	case !strings.ContainsRune(text, endMark): // as fast as it can be
		return visible(text)
	case !colored:
		return visible(painted.ReplaceAllString(text, "$2"))
	}
	return painted.ReplaceAllStringFunc(visible(text), func(text string) string {
		parts := painted.FindStringSubmatch(text)
		c := color.New(attributes[[]rune(parts[1])[0]-firstMark])
		c.EnableColor() // by itself, it looks at standard output alone
		return c.Sprint(parts[2])
	})
}
