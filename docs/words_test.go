// The race detector makes these searches ten times as slow; make lint runs them without it.

//go:build !race

package docs_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var updateWords = flag.Bool("update-words", false, "TestWords writes testdata/words.txt")

// The kinds of text.
const (
	page      = "page"      // docs, help, README
	comment   = "comment"   // of Go and Python
	docstring = "docstring" // of Python
	message   = "message"   // a string of Go that may be printed
	hint      = "hint"      // the format of a hint
)

// wordRules are patterns that readers stumble over, and what to write instead.
var wordRules = []struct {
	name    string
	pattern *regexp.Regexp
	advice  string
	in      []string
}{
	{"what", pattern(`\b[Ww]hat (is|was|it|they|needs|asks|belongs|fails|has|the|a)\b`), "name the noun", []string{page, docstring}},
	{"front", pattern(`(^|[.:!?] |\n\n)(Of|By|Beside) `), "begin with the subject", []string{page, comment, docstring}},
	{"inversion", pattern(`\b(and so (is|do|does|are)|neither (is|has|does)|nor (is|has|does|do|are))\b`), "list the subjects together", []string{page, comment, docstring, message}},
	{"tail", pattern(`; (nil|0|""|empty|none)\b`), `write ", or nil if …"`, []string{comment}},
	{"stand-in", pattern(`\b((is|are|has|have) (that|those) of|the (zero|other) one)\b`), "repeat the noun", []string{page, comment, docstring, message}},
	{"want", pattern(`, (want|wanted)\b`), `write "expected"`, []string{message}},
	{"imperative", pattern(`^(the|a|an|it|they|this|that|its|with|without|by|what|only|no|one|each|every|` + "`?%s`? " + `[a-z]+s)\b`), "begin with a verb", []string{hint}},
	{"private", pattern(`\b(era|eras|condemn(s|ed)?|beside)\b`), "use a standard word", []string{page, comment, docstring, message}},
	{"fragment", pattern(`^(The|A|An|Why|How|What) `), "begin with a verb", []string{docstring}},
	{"spelling", pattern(`\b(cancelled|cancelling|behaviour|colour|favour|honour|initialise|recognise|organis|serialise|normalise|optimise|analyse|centre|licence|catalogue|dialogue|judgement|labelled|travelled|modelled|grey|whilst|towards|afterwards)\w*\b`), "use US spelling", []string{page, comment, docstring, message}},
}

// pattern compiles a pattern in which a space matches a line break, too.
func pattern(p string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(p, " ", `\s+`))
}

// TestWords checks that no rule has more findings in a file than testdata/words.txt allows. A
// smaller number must be recorded there:
//
//	go test ./docs -run TestWords -update-words
func TestWords(t *testing.T) {
	found := map[string][]string{} // by rule and file
	for _, p := range readFiles(t) {
		source, err := os.ReadFile("../" + p)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts(t, p, string(source)) {
			part.judge(p, found)
		}
	}
	const file = "testdata/words.txt"
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]int{}
	for line := range strings.Lines(string(old)) {
		var rule, p string
		var n int
		if _, err := fmt.Sscan(line, &rule, &p, &n); err != nil {
			t.Fatalf("%s: %q: %v", file, line, err)
		}
		allowed[rule+" "+p] = n
	}
	var now strings.Builder
	for _, key := range slices.Sorted(maps.Keys(found)) {
		fmt.Fprintf(&now, "%s %d\n", key, len(found[key]))
		if len(found[key]) > allowed[key] {
			t.Errorf("%d of these are allowed:\n%s", allowed[key], strings.Join(found[key], "\n"))
		}
	}
	switch {
	case t.Failed() || now.String() == string(old):
	case *updateWords:
		if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s allows more than there is: run go test ./docs -run TestWords -update-words", file)
	}
}

// judge adds to found what each rule finds in a part of a file.
func (part text) judge(p string, found map[string][]string) {
	for _, rule := range wordRules {
		if !slices.Contains(rule.in, part.kind) {
			continue
		}
		for _, at := range rule.pattern.FindAllStringIndex(part.text, -1) {
			key := rule.name + " " + p
			found[key] = append(found[key], fmt.Sprintf("%s:%d: %s: %q: %s", p, part.line+strings.Count(part.text[:at[0]], "\n"), rule.name, part.text[at[0]:at[1]], rule.advice))
		}
	}
}

// text is a part of a file that people read.
type text struct {
	kind, text string
	line       int // the first line of the part
}

// readFiles returns the files with text that people read.
func readFiles(t *testing.T) (all []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(".."), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && p != "." || d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "dist"):
			return fs.SkipDir
		}
		switch path.Ext(p) {
		case ".go", ".md", ".py":
			all = append(all, p)
		case "", ".txt":
			if strings.HasPrefix(p, "commands/help/") {
				all = append(all, p)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(p string) bool { return strings.HasSuffix(p, "docs/words_test.go") })
}

// parts returns the parts of a file that people read.
func parts(t *testing.T, p, source string) []text {
	t.Helper()
	switch path.Ext(p) {
	case ".go":
		return goProse(t, p, source)
	case ".py":
		return pythonProse(source)
	}
	return []text{{page, blank(fence, source), 1}}
}

var (
	fence      = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	pythonText = regexp.MustCompile(`(?s)"""(.*?)"""|(?m:^[ \t]*# (.*)$)`)
)

// blank replaces each match by its line breaks, which keeps the numbers of lines.
func blank(re *regexp.Regexp, source string) string {
	return re.ReplaceAllStringFunc(source, func(m string) string { return "x" + strings.Repeat("\n", strings.Count(m, "\n")) })
}

func pythonProse(source string) (all []text) {
	for _, m := range pythonText.FindAllStringSubmatchIndex(source, -1) {
		line := 1 + strings.Count(source[:m[0]], "\n")
		if m[2] >= 0 { // a docstring
			all = append(all, text{docstring, source[m[2]:m[3]], line})
		} else {
			all = append(all, text{comment, source[m[4]:m[5]], line})
		}
	}
	return all
}

func goProse(t *testing.T, p, source string) (all []text) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, p, source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Comments {
		all = append(all, text{comment, group.Text(), set.Position(group.Pos()).Line})
	}
	if strings.HasSuffix(p, "_test.go") {
		return all
	}
	hints := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.CallExpr:
			if isHint(n.Fun) && len(n.Args) > 0 {
				hints[n.Args[0]] = true
			}
		case *ast.BasicLit:
			value, err := strconv.Unquote(n.Value)
			if err != nil || n.Kind != token.STRING || !strings.Contains(value, " ") {
				return true
			}
			line := set.Position(n.Pos()).Line
			all = append(all, text{message, value, line})
			if hints[n] {
				all = append(all, text{hint, value, line})
			}
		}
		return true
	})
	return all
}

// isHint reports whether a function's first argument is the format of a hint.
func isHint(f ast.Expr) bool {
	switch f := f.(type) {
	case *ast.SelectorExpr:
		return isHint(f.Sel)
	case *ast.Ident:
		return f.Name == "Hintf" || f.Name == "Hints"
	}
	return false
}
