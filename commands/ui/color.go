package ui

import (
	"fmt"

	"github.com/fatih/color"
)

// Color is the colour of a text; 0 is none.
type Color = color.Attribute

// The colours that pyplug uses, and for what.
const (
	Bold   = color.Bold     // titles
	Red    = color.FgRed    // error, failure
	Green  = color.FgGreen  // ok
	Yellow = color.FgYellow // warning
	Cyan   = color.FgCyan   // hint, note
)

// SetColor sets colour by mode: "always", "never", or "auto", where the first
// of these decides: FORCE_COLOR or CLICOLOR_FORCE set and not "0", NO_COLOR set,
// TERM=dumb, each stream being a terminal.
func (s *Streams) SetColor(mode string) error {
	set := func(name string) bool { v := s.Getenv(name); return v != "" && v != "0" }
	switch {
	case mode == "always":
		s.outColor, s.errColor = true, true
	case mode == "never":
		s.outColor, s.errColor = false, false
	case mode != "auto":
		return fmt.Errorf("color is %q, want auto, always or never", mode)
	case set("FORCE_COLOR"), set("CLICOLOR_FORCE"):
		s.outColor, s.errColor = true, true
	case s.Getenv("NO_COLOR") != "", s.Getenv("TERM") == "dumb":
		s.outColor, s.errColor = false, false
	default:
		s.outColor, s.errColor = s.OutTTY, s.ErrTTY
	}
	return nil
}

// PaintOut colours text for standard output, where that is coloured.
func (s *Streams) PaintOut(c Color, text string) string { return paint(s.outColor, c, text) }

func paint(colored bool, c Color, text string) string {
	if !colored || c == 0 {
		return text
	}
	p := color.New(c)
	p.EnableColor() // by itself, it looks at standard output alone
	return p.Sprint(text)
}
