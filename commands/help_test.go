package commands

import (
	"strings"
	"testing"

	"github.com/pyplug/pyplug/commands/ui"
	"github.com/pyplug/pyplug/docs/findings"
)

// A page is printed as it stands but for its headings, which are bold where standard
// output is coloured; a comment in an example is no heading.
func TestFindingHelp(t *testing.T) {
	page, ok := findings.Page("stdout-noise")
	if !ok || !strings.Contains(page, "\n# wrong: ") {
		t.Fatalf("its example has no comment any more:\n%s", page)
	}
	const bold, plain = "\x1b[1m", "\x1b["
	for _, mode := range []string{"never", "always"} {
		s, out, _ := ui.Test("")
		if err := s.SetColor(mode); err != nil {
			t.Fatal(err)
		}
		if err := findingHelp(&program{streams: s}, []string{"stdout-noise"}); err != nil {
			t.Fatal(err)
		}
		var marked []string
		text := ""
		for line := range strings.Lines(out.String()) {
			if heading, ok := strings.CutPrefix(line, bold); ok {
				line, _, _ = strings.Cut(heading, plain)
				marked = append(marked, line)
				line += "\n"
			}
			text += line
		}
		if text != page {
			t.Errorf("color %s: the page is\n%q, want\n%q", mode, text, page)
		}
		want := "# stdout-noise: something was printed before the handshake|## Why hosts care|## How to fix|## Example"
		if mode == "never" {
			want = ""
		}
		if got := strings.Join(marked, "|"); got != want {
			t.Errorf("color %s: bold is %q, want %q", mode, got, want)
		}
	}
}
