package ui

import (
	"encoding/json"
	"errors"
	"regexp"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// github matches the text that a runner of GitHub Actions reads as a command in a line. The runner
// trims .NET's white space, and also ends lines at a carriage return.
var github = regexp.MustCompile(`(?m)(?:^|\r)[\t\v\f \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}]*::|##[A-Za-z]*\[`)

var hostiles = []string{
	"x\n\u3000::error::a", "x\u0085::error::a\u2028::error::b\u2029::error::c", "x\r::error::a\r\n::error::b", "::error::a", "##[error]a ###vso[b]",
	"\x1b[31mred\x1b]0;title\a", "\u009b31m\x7f\x00\xff", "\u202eright\u2066isolate\u2069\u200f\u061c",
	"\uFDD1\uFDEF::error::a", ":\uFDD1:error::a", "\uFDD2\uFDD2::error::a", "#\uFDD3#[error]a", "\uFDD0\uFDEE\uFDEF::error::a", "\uFDD1a\n::error::b\uFDEF",
}

// FuzzShown checks that no terminal or CI system acts on printed text, whatever is in names, labels
// and messages.
func FuzzShown(f *testing.F) {
	for _, text := range hostiles {
		f.Add(text)
	}
	colors := regexp.MustCompile("\x1b\\[[0-9;]+m")
	f.Fuzz(func(t *testing.T, text string) {
		for _, colored := range []bool{false, true} {
			s, out, errs := testStreams("")
			s.outColor, s.screen.color, s.Verbose = colored, colored, true
			err := &hook.Error{Kind: hook.Failed, Hook: text, Plugin: text, Hints: schema.Hints(text), Tried: []string{text}, Err: errors.New(text),
				At: []hook.Frame{{File: schema.Path(text), Function: text, Text: text, Line: 1}}, Exit: &hook.Exit{Signal: text, Stderr: []string{text}}}
			s.Warn(text)
			s.Log("info", text, text, text)
			s.PluginOutput(text, false).Line("stdout", text, 0)
			s.Fail(t.Context(), Failure{Err: err})
			_ = s.Print(text + "\n")
			_ = s.Print(Paint(Red, text) + "\n")
			_ = s.Health(err, false)
			_ = s.LogLine(text, false, clock(), 1, "stdout", text, false)
			for _, got := range []string{out.String(), errs.String()} {
				harmless(t, "text", colors.ReplaceAllString(got, ""))
				if command := github.FindString(got); command != "" {
					t.Errorf("got %q, which has the command %q", got, command)
				}
			}
			out.Reset()
			_ = s.LogLine(text, false, clock(), 1, "stdout", text, true)
			harmless(t, "JSON", out.String())
			var line struct{ Plugin, Line string }
			if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Line != string([]rune(text)) || line.Plugin != line.Line {
				t.Errorf("got %q, %v, want the text %q", out, err, text)
			}
			if command := github.FindString(out.String()); command != "" {
				t.Errorf("got %q, which has the command %q", out, command)
			}
		}
	})
}

// TestVisible checks that visible text keeps its meaning, and that JSON does not change.
func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"tab\té 😀 \u200d \u3000":                "tab\té 😀 \u200d \u3000",
		"\u3000::error::x":                      "\u3000:\\:error::x",
		"a\n\u2003::debug::x\r\n":               "a\n\u2003:\\:debug::x\n",
		"\u0085::a":                             `\u0085::a`,
		"user\u202etxt.exe\u2066 \u2028 \u2029": `user\u202etxt.exe\u2066 \u2028 \u2029`,
		"x::y ::":                               "x::y ::",
	} {
		if got := visible(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
		if again := visible(visible(in)); again != want {
			t.Errorf("%q: again, got %q, want %q", in, again, want)
		}
	}
}
