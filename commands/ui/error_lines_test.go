package ui

import (
	"errors"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// Carets stay below what they point at, whatever escaping and the terminal's
// width make of the line above.
func TestPoint(t *testing.T) {
	for _, test := range []struct {
		name    string
		columns int // 0: no terminal
		text    string
		column  int
		want    string
	}{
		{"plain", 0, "def x(:", 7, "def x(:\n      ^"},
		{"behind the end", 0, "def x(", 99, "def x(\n      ^"},
		{"characters", 0, "größe = é(:", 11, "größe = é(:\n          ^"},
		{"tabs", 80, "\tif\tx:", 5, "\tif\tx:\n\t  \t^"},
		{"wide", 80, `"日本" x`, 6, "\"日本\" x\n       ^"},
		{"on a wide one", 80, "日本", 2, "日本\n  ^^"},
		{"control", 80, "\f x\x1b y", 6, `\x0c x\x1b y` + "\n           ^"},
		{"on control", 80, "a\x1bb", 2, `a\x1bb` + "\n ^"},
		{"broken bytes", 80, "a\xff b", 4, `a\xff b` + "\n      ^"},
		{"a command", 0, "# ##[x] y", 9, `# #\#[x] y` + "\n         ^"},
		{"within a command", 0, "##[x]", 3, `#\#[x]` + "\n   ^"},
		{"not yet a command", 0, "a ##[x]", 1, `a #\#[x]` + "\n^"},
		{"a command's start", 0, " ::x y", 6, ` :\:x y` + "\n      ^"},
		{"no command's start", 0, "a ::x", 3, "a ::x\n  ^"},
		{"narrow", 27, "0123456789012345678901", 22, "0123456789012345678901\n                     ^"},
		{"too narrow", 27, "01234567890123456789012345", 24, "0123456789012345678901\n2345\n ^"},
		{"before the break", 27, "01234567890123456789012345", 3, "0123456789012345678901\n  ^\n2345"},
	} {
		s, _, _ := Test("")
		terminal := &sized{width: test.columns}
		s.Err, s.ErrTTY = terminal, test.columns > 0
		p := newErrorLines(s.err(), s.cwd(), 0)
		p.frame(0, "", hook.Frame{File: "f", Line: 1, Text: test.text, Column: test.column})
		want := "  f:1\n    " + strings.ReplaceAll(test.want, "\n", "\n    ")
		if got := strings.Join(p.lines, "\n"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, want)
		}
	}
}

func TestDrawing(t *testing.T) {
	for _, test := range []struct {
		name    string
		columns int
		lines   []string
		want    string
	}{
		{"nothing", 0, nil, ""},
		{"a text", 0, []string{"one", "two"}, "  one\n  two\n"},
		{"two carets", 0, []string{"one", " ^^", "more"}, "  one\n   ^^\n  more\n"},
		{"carets alone", 0, []string{"^^"}, ""},
		{"past the end", 0, []string{"1|1", "   ^"}, "  1|1\n     ^\n"},
		{"far past the end", 0, []string{"1", "     ^^^"}, "  1\n   ^\n"},
		{"a command", 0, []string{"1|##[x]|y", "  ^^^^^"}, `  1|#\#[x]|y` + "\n    ^^^^^^\n"},
		{"an address", 0, []string{"1|1|tcp|::1:4|y", "        ^^^^^"}, "  1|1|tcp|::1:4|y\n          ^^^^^\n"},
		{"narrow", 25, []string{"0123456789012345678901234", "                     ^^^^"}, "  0123456789012345678901\n                       ^\n  234\n  ^^^\n"},
	} {
		s, _, _ := Test("")
		errs := &sized{width: test.columns}
		s.Err, s.ErrTTY = errs, test.columns > 0
		s.Fail(Failure{Err: &hook.Error{Kind: hook.Handshake, Err: errors.New("x\ny"), Drawing: test.lines}})
		if got, want := errs.take(), "error: handshake: x\n  y\n"+test.want; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, want)
		}
	}
}
