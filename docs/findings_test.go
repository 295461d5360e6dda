package docs_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/docs"
	"github.com/pyplug/pyplug/runner/check"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// Every finding has a page, and every page belongs to a finding.
func TestPages(t *testing.T) {
	known := slices.Sorted(slices.Values(constants(t)))
	if got := docs.Findings.Names(); !slices.Equal(got, known) {
		t.Errorf("pages\n%q, findings\n%q", got, known)
	}
	for _, name := range []string{"", ".", "README", "nosuch", "../findings/stdout-noise", "stdout-noise.md"} {
		if text, ok := docs.Findings.Page(name); ok || text != "" || docs.Findings.Title(name) != "" {
			t.Errorf("%q has a page", name)
		}
	}
}

// constants returns the names of the findings in package check, in its order.
func constants(t *testing.T) []string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), "../runner/check/findings.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, decl := range tree.Decls {
		consts, ok := decl.(*ast.GenDecl)
		if !ok || consts.Tok != token.CONST {
			continue
		}
		for _, spec := range consts.Specs {
			for _, value := range spec.(*ast.ValueSpec).Values {
				name, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, name)
			}
		}
	}
	return names
}

// The parts of a page; TestForm checks them.
var (
	heading = regexp.MustCompile(`^# ([a-z]+(?:-[a-z]+)+): ([^A-Z\s].*[^.\s])\n\nWhat: `)
	what    = regexp.MustCompile(`^[Aa]n? (failure|warning|note) in the ([a-z]+) stage\b`)
	code    = regexp.MustCompile(`exit\s+code\s+(\d+|is)`)
	section = regexp.MustCompile(`(?m)^## .*$`)
)

// part returns the text between a mark and the next heading.
func part(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	before, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(before)
}

// All pages have the same form, so that readers know where to look.
func TestForm(t *testing.T) {
	for _, id := range constants(t) {
		text, _ := docs.Findings.Page(id)
		m := heading.FindStringSubmatch(text)
		if m == nil || m[1] != id || m[2] != docs.Findings.Title(id) {
			t.Errorf("%s begins with %.100q, title %q", id, text, docs.Findings.Title(id))
			continue
		}
		intro := part(text, "\n\nWhat: ")
		verdict := what.FindStringSubmatch(intro)
		if verdict == nil || !slices.Contains(check.Stages(), verdict[2]) {
			t.Errorf("%s does not say which stage it is a failure, warning or note in: %s", id, intro)
		} else if failure := verdict[1] == "failure"; failure != code.MatchString(intro) {
			t.Errorf("%s is a %s: has an exit code: %v", id, verdict[1], !failure)
		}
		sections := section.FindAllString(prose(text), -1)
		if len(sections) > 0 && sections[0] == "## Why callers care" {
			sections[0] = "## Why hosts care"
		}
		if want := []string{"## Why hosts care", "## How to fix", "## Example"}; !slices.Equal(sections, want) {
			t.Errorf("%s has the sections %q", id, sections)
		}
		for _, s := range section.FindAllString(prose(text), -1) {
			if part(text, s+"\n") == "" {
				t.Errorf("%s has no text below %q", id, s)
			}
		}
		if len(blocks(text, "")) == 0 || !strings.HasSuffix(text, "```\n") {
			t.Errorf("%s does not end with an example", id)
		}
		testLines(t, id, text)
	}
}

func testLines(t *testing.T, id, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 45 {
		t.Errorf("%s has %d lines, want at most 45", id, len(lines))
	}
	for i, line := range lines {
		if len([]rune(line)) > 100 || strings.TrimRight(line, " \t\r") != line {
			t.Errorf("%s:%d is longer than 100 characters or ends with a space: %s", id, i+1, line)
		}
	}
}

// Every finding that a page refers to exists.
func TestReferences(t *testing.T) {
	named := regexp.MustCompile("(?:see|is|\\() `([a-z]+(?:-[a-z]+)+)`")
	seen := 0
	for _, id := range constants(t) {
		text, _ := docs.Findings.Page(id)
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if seen++; !slices.Contains(docs.Findings.Names(), m[1]) {
				t.Errorf("%s: %s does not exist", id, m[1])
			}
		}
	}
	if seen == 0 {
		t.Error("no page refers to another")
	}
}

// The index lists the pages in the order of the stages, with their titles.
func TestIndex(t *testing.T) {
	readme, err := os.ReadFile("findings/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(readme), "|---|---|---|---|\n")
	var want strings.Builder
	for _, id := range constants(t) {
		text, _ := docs.Findings.Page(id)
		m := what.FindStringSubmatch(part(text, "\n\nWhat: "))
		if m == nil {
			t.Fatalf("%s does not name its stage", id)
		}
		fmt.Fprintf(&want, "| [%s](%s.md) | %s | %s | %s |\n", id, id, m[1], m[2], docs.Findings.Title(id))
	}
	if table != want.String() {
		t.Errorf("the table is\n%s\nwant\n%s", table, want.String())
	}
}

// The Python code in the pages compiles.
func TestPython(t *testing.T) {
	python := runnertest.Python(t)
	dir := t.TempDir()
	args := []string{"-c", `import sys
for name in sys.argv[1:]:
    try:
        compile(open(name, encoding="utf-8").read(), name, "exec")
    except SyntaxError as e:
        print(name, e)
`}
	for _, id := range constants(t) {
		text, _ := docs.Findings.Page(id)
		for i, block := range blocks(text, "python") {
			name := filepath.Join(dir, fmt.Sprintf("%s-%d.py", id, i))
			if err := os.WriteFile(name, []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, name)
		}
	}
	if len(args) < 30 {
		t.Errorf("found %d blocks of Python", len(args)-2)
	}
	out, err := proc.Run(context.Background(), proc.Tool{Path: python, Args: args, Env: os.Environ()})
	if err != nil || out.Exit.Code != 0 || len(out.Stdout) > 0 {
		t.Errorf("%v, exit %d\n%s%s", err, out.Exit.Code, out.Stdout, out.Stderr)
	}
}

// prose returns a page without its fenced blocks, whose comments look like headings.
func prose(text string) string {
	var b strings.Builder
	for i, between := range strings.Split(text, "```") {
		if i%2 == 0 {
			b.WriteString(between)
		}
	}
	return b.String()
}

// blocks returns the fenced blocks in a language, or all of them if language is empty.
func blocks(text, language string) []string {
	var found []string
	for i, between := range strings.Split(text, "```") {
		named, lines, _ := strings.Cut(between, "\n")
		if i%2 == 1 && (language == "" || named == language) {
			found = append(found, lines)
		}
	}
	return found
}
