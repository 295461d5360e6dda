package ui

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/pyplug/pyplug/docs"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short", "short"},
		{"exactly 14 wide", "exactly 14/wide"},
		{"fourteen cells", "fourteen cells"},
		{"aunbreakablelongword and more", "aunbreakablelongword/and more"},
		{"run `pyplug sync --dry-run` now", "run/`pyplug sync --dry-run`/now"},
		{"two  [blanks]  1.2ms", "two  [blanks]/1.2ms"},
		{"日本語 日本語 日本語", "日本語 日本語/日本語"},
		{"    return an indented line", "    return an indented line"},
	} {
		if got := strings.Join(fold(c.text, 0, 14), "/"); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	if got := folded("one two three\nfour five six", "  ", 7, 14); got != "one two\n  three\n  four five\n  six" {
		t.Errorf("got %q", got)
	}
}

func TestPage(t *testing.T) {
	page := "# Title\n\n" + strings.Repeat("word ", 30) + "\nend\n\n- " + strings.Repeat("item ", 20) + "\n  more\n- two\n\n" +
		"| id | meaning |\n|---|---|\n| `a\\|b` | " + strings.Repeat("cell ", 20) + "|\n| [c](x.md) | **d**, [json.md](json.md#x), [e](https://e.org) |\n\n```sh\n" + strings.Repeat("code ", 20) + "\n- no item\n```\n"
	repeat := func(word string, n int) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }
	want := Paint(Bold, "Title") + "\n\n" + repeat("word", 16) + "\n" + repeat("word", 14) + " end\n\n" +
		"- " + repeat("item", 15) + "\n  " + repeat("item", 5) + " more\n- two\n\n" +
		"id     meaning\n`a|b`  " + repeat("cell", 14) + "\n       " + repeat("cell", 6) + "\nc      d, `pyplug help json`, e (https://e.org)\n\n" +
		"  " + strings.Repeat("code ", 20) + "\n  - no item\n"
	if got := Page(page); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// fence matches an example of a page.
var fence = regexp.MustCompile("(?ms)^ *```.*?^ *```$")

// TestPagesFit checks that every page of the documentation has no Markdown and, except for long
// headings, examples, code and URLs, fits HelpWidth.
func TestPagesFit(t *testing.T) {
	for _, book := range []docs.Pages{docs.Manual, docs.Findings} {
		for _, name := range book.Names() {
			page, _ := book.Page(name)
			for line := range strings.Lines(Page(fence.ReplaceAllString(page, ""))) {
				text := strings.TrimRight(line, "\n")
				if strings.HasPrefix(text, "#") || strings.HasPrefix(text, "|") || strings.Contains(text, "](") {
					t.Errorf("%s: %q is Markdown", name, text)
				}
				if runewidth.StringWidth(text) > HelpWidth && !strings.Contains(text, "`") && !strings.Contains(text, "\x1b") && !strings.Contains(text, "https://") {
					t.Errorf("%s: %q", name, text)
				}
			}
		}
	}
}

// TestNarrow checks that the help of a hook, an error with its attempts, and its hints fit a narrow
// terminal.
func TestNarrow(t *testing.T) {
	choices := []json.RawMessage{json.RawMessage(`"first"`), json.RawMessage(`"second"`), json.RawMessage(`"third"`), json.RawMessage(`"fourth"`)}
	h := schema.Hook{Name: "paint", Params: []schema.Param{
		{Name: "colour", Type: "Literal['first', 'second', 'third', 'fourth']", Required: true, Kind: schema.Ordinary, Choices: choices},
	}}
	s, _, _ := testStreams("")
	terminal := &sized{width: 40}
	s.Out, s.Err, s.OutTTY, s.ErrTTY = terminal, terminal, true, true
	if err := s.Hook(h, "pyplug run x.py paint first", false); err != nil {
		t.Fatal(err)
	}
	s.Fail(t.Context(), Failure{Err: &hook.Error{Kind: hook.Interpreter, Err: errors.New("no python is good enough for this plugin"),
		Tried: []string{"/usr/bin/python3 (PATH): is 3.11.2, which the project excludes"}, Hints: schema.Hints("install one that is, or change what the project says it needs")}})
	text := terminal.take()
	for line := range strings.Lines(text) {
		if runewidth.StringWidth(strings.TrimRight(line, "\n")) >= 40 {
			t.Errorf("%q is too long, of\n%s", line, text)
		}
	}
}
