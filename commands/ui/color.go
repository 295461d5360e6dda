package ui

import (
	"fmt"

	"github.com/fatih/color"
)

// Color is the colour of a text. The zero Color is none.
type Color uint8

// The colours that pyplug uses, and for what.
const (
	NoColor Color = iota
	Red           // error, failure
	Yellow        // warning
	Green         // ok
	Cyan          // hint, note
	Bold
)

// The package's own idea of whether to colour looks at standard output alone,
// so each of these decides by itself.
var paints = func() map[Color]*color.Color {
	m := map[Color]*color.Color{
		Red: color.New(color.FgRed), Yellow: color.New(color.FgYellow), Green: color.New(color.FgGreen),
		Cyan: color.New(color.FgCyan), Bold: color.New(color.Bold),
	}
	for _, c := range m {
		c.EnableColor()
	}
	return m
}()

// SetColor sets colour by mode: "always", "never", or "auto", where the first
// of these decides: FORCE_COLOR or CLICOLOR_FORCE set and not "0", NO_COLOR set,
// TERM=dumb, each stream being a terminal.
func (s *Streams) SetColor(mode string) error {
	switch mode {
	case "auto", "always", "never":
		s.colorBy(mode)
		return nil
	}
	return fmt.Errorf("color is %q, want auto, always or never", mode)
}

func (s *Streams) colorBy(mode string) {
	set := func(name string) bool { v := s.getenv(name); return v != "" && v != "0" }
	switch {
	case mode == "always":
		s.outColor, s.errColor = true, true
	case mode == "never":
		s.outColor, s.errColor = false, false
	case set("FORCE_COLOR"), set("CLICOLOR_FORCE"):
		s.outColor, s.errColor = true, true
	case s.getenv("NO_COLOR") != "", s.getenv("TERM") == "dumb":
		s.outColor, s.errColor = false, false
	default:
		s.outColor, s.errColor = s.OutTTY, s.ErrTTY
	}
}

// PaintOut colours text for standard output, where that is coloured.
func (s *Streams) PaintOut(c Color, text string) string { return paint(s.outColor, c, text) }

// PaintErr colours text for standard error, where that is coloured.
func (s *Streams) PaintErr(c Color, text string) string { return paint(s.errColor, c, text) }

func paint(on bool, c Color, text string) string {
	if p := paints[c]; on && p != nil {
		return p.Sprint(text)
	}
	return text
}
