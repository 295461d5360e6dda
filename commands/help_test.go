package commands

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/docs"
	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/settings"
)

// TestHelp checks that every help fits a terminal, has an example, lists its flags in order, and
// ends with the place of the exit codes.
func TestHelp(t *testing.T) {
	prog := &program{}
	prog.commands = commandList(prog)
	texts := map[string]string{"pyplug": prog.help()}
	for _, cmd := range prog.commands {
		if cmd.Hidden {
			continue
		}
		prog.helpAll = false
		texts[cmd.Name] = prog.commandHelp(cmd)
		prog.helpAll = true
		all := prog.commandHelp(cmd)
		texts[cmd.Name+" --help-all"] = all
		for _, flag := range cmd.Flags {
			shown := regexp.MustCompile(`(?m)^ {2}(-., | {4})--` + cmdline.FlagOf(flag).Name + `([, ]|$)`)
			if has := shown.MatchString(texts[cmd.Name]); has == cmdline.FlagOf(flag).Rare || !shown.MatchString(all) {
				t.Errorf("%s --%s: in --help %v, want %v, and in --help-all", cmd.Name, cmdline.FlagOf(flag).Name, has, !has)
			}
		}
	}
	flagLine := regexp.MustCompile(`(?m)^ {2}(?:-., | {4})--([a-z-]+)|^$`)
	for name, text := range texts {
		if !strings.HasSuffix(text, "\nExit codes: `pyplug help exit-codes`\n") || !strings.Contains(text, "\nExamples:\n  ") {
			t.Errorf("%s: no example, or another last line:\n%s", name, text)
		}
		before := ""
		for _, found := range flagLine.FindAllStringSubmatch(text, -1) {
			if found[1] != "" && found[1] < before {
				t.Errorf("%s: --%s comes after --%s", name, found[1], before)
			}
			before = found[1]
		}
	}
	for _, topic := range topics {
		name := topic[0]
		if texts[name] = helpText(name); name != "finding" && texts[name] == "" || strings.Count(texts[name], "\n") > 90 {
			t.Errorf("%s: %d lines", name, strings.Count(texts[name], "\n"))
		}
	}
	for name, text := range texts {
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 || strings.Contains(line, "{arguments}") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	files, _ := fs.Glob(helpFiles, "help/*.txt")
	for _, file := range files {
		if name := strings.TrimSuffix(strings.TrimPrefix(file, "help/"), ".txt"); texts[name] == "" {
			t.Errorf("%s is shown by nothing", file)
		}
	}
	if text := texts["check"]; !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(check.Stages(), " ")) {
		t.Errorf("not all stages in\n%s", text)
	}
}

// TestManifestTable compares the table in docs/manifest.md with the table of settings.
func TestManifestTable(t *testing.T) {
	page, err := os.ReadFile("docs/manifest.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| key | flag, variable | meaning |\n|---|---|---|\n"
	for _, row := range settings.Table {
		if row.Key == "" {
			continue
		}
		var given []string
		if row.Flag != "" {
			given = append(given, "`--"+row.Flag+"`")
		}
		if row.Variable != "" {
			given = append(given, "`"+row.Variable+"`")
		}
		want += fmt.Sprintf("| `%s` | %s | %s |\n", row.Key, strings.Join(given, ", "), strings.ReplaceAll(row.Usage(&settings.Settings{}), "`", ""))
	}
	if !strings.Contains(string(page), "\n\n"+want+"\n") {
		t.Errorf("the table in docs/manifest.md should be\n%s", want)
	}
}

// TestFindingHelp checks that a page is printed without the marks of Markdown, and otherwise
// unchanged except for line breaks. Headings are bold if standard output has colors. A comment in
// an example is not a heading.
func TestFindingHelp(t *testing.T) {
	page, ok := docs.Findings.Page("stdout-noise")
	if !ok || !strings.Contains(page, "\n# wrong: ") {
		t.Fatalf("its example has no comment any more:\n%s", page)
	}
	const bold, plain = "\x1b[1m", "\x1b["
	unmarked := strings.NewReplacer("\n## ", "\n", "```python\n", "", "```\n", "").Replace(strings.TrimPrefix(page, "# "))
	for _, mode := range []string{"never", "always"} {
		s, out, _ := testStreams("")
		s.SetColor(mode)
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
		if !slices.Equal(strings.Fields(text), strings.Fields(unmarked)) { // its lines are wrapped
			t.Errorf("color %s: the page is\n%q, want\n%q", mode, text, unmarked)
		}
		want := "stdout-noise: something was printed before the handshake|Why hosts care|How to fix|Example"
		if mode == "never" {
			want = ""
		}
		if got := strings.Join(marked, "|"); got != want {
			t.Errorf("color %s: bold is %q, want %q", mode, got, want)
		}
	}
}
