// The rules of docs/ARCHITECTURE.md that a program can check.
package commands_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/pyplug/pyplug"

// roomRow matches a row of the table of packages: the package, its description, its token budget,
// its imports.
var roomRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (.*) \\| ([0-9 ]+) \\| ?([^|]*?) ?\\|$")

// roomRows returns the columns of each package in the table of docs/ARCHITECTURE.md.
func roomRows(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("docs/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## The rooms\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string][]string{}
	for _, row := range roomRow.FindAllStringSubmatch(section, -1) {
		rows[row[1]] = row[1:]
	}
	return rows
}

// rooms returns the packages of this module that each package may import. A package that is not in
// the table of docs/ARCHITECTURE.md fails the test. Add it there first.
func rooms(t *testing.T) map[string][]string {
	t.Helper()
	table := map[string][]string{}
	for room, columns := range roomRows(t) {
		table[room] = strings.FieldsFunc(columns[3], func(r rune) bool { return r == ',' || r == ' ' })
	}
	return table
}

// testsOnly lists packages that no program imports.
var testsOnly = []string{"runner/runnertest"}

// reserved maps a package, or a path prefix of packages, to the only packages that may import it.
var reserved = map[string][]string{
	"github.com/fatih/color":         {"commands/ui"},
	"github.com/mattn/go-isatty":     {"commands/ui"},
	"golang.org/x/term":              {"commands/ui"},
	"github.com/mattn/go-runewidth":  {"commands/ui"},
	"github.com/urfave/cli":          {"commands", "commands/cmdline"},
	"github.com/hashicorp/go-plugin": {"runner/grpcplugin", "runner/check/stock"},
	"google.golang.org/grpc":         {"runner/grpcplugin", "runner/check/stock"},
	"os/exec":                        {"runner/proc", "runner/daemon", "runner/runnertest", "runner/check/stock", "packaging"},
}

// light packages are initialized before anything else in the program, so they may import only cheap
// packages.
var light = map[string][]string{
	"runner/proc/guard": {"bufio", "bytes", "os", "os/signal", "slices", "strconv", "strings", "syscall", "time"},
	// A test of fastcall checks the order of initialization that this ensures.
	"commands/fastcall": {"os", "strings", "syscall", "time"},
}

// ownWay matches the files of light packages for systems other than Linux. They may import more
// packages, because they use other functions of the system.
var ownWay = regexp.MustCompile(`_(darwin|windows|other)\.go$`)

func TestImports(t *testing.T) {
	rooms := rooms(t)
	for room, imports := range rooms {
		for _, imported := range imports {
			if _, ok := rooms[imported]; !ok || slices.Contains(testsOnly, imported) {
				t.Errorf("docs/ARCHITECTURE.md: %s may not import %s", room, imported)
			}
		}
	}
	for _, f := range sources(t, ".go") {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		room := path.Dir(f.path)
		allowed, known := rooms[room]
		if !known {
			t.Errorf("%s: the room %s is not in the table", f.path, room)
			continue
		}
		for _, imported := range f.imports(t) {
			if ours, ok := inModule(imported); ok {
				if !slices.Contains(allowed, ours) {
					t.Errorf("%s: %s may not import %s", f.path, room, ours)
				}
				continue
			}
			if own, ok := light[room]; ok && !slices.Contains(own, imported) && !ownWay.MatchString(f.path) {
				t.Errorf("%s: %s is light and may not import %s", f.path, room, imported)
			}
			for prefix, owners := range reserved {
				if within(imported, prefix) && !slices.Contains(owners, room) {
					t.Errorf("%s: only %s may import %s", f.path, strings.Join(owners, " and "), imported)
				}
			}
		}
	}
}

// unbounded lists calls that wait for a pipe's writer, read endless files, or compute for long.
var unbounded = []string{"os.Open", "os.OpenFile", "os.ReadFile", "os.ReadDir", "toml.Unmarshal", "toml.NewDecoder"}

// TestBounded checks that the packages that read files of a project use package bounded.
func TestBounded(t *testing.T) {
	rooms := []string{"interp", "interp/env", "interp/pysrc", "runner/manifest", "runner/check", "runner/pyworker", "runner", "runner/plan"}
	other := map[string]string{
		"interp/env/make.go":         "os.OpenFile", // creates a lock
		"runner/plan/descriptors.go": "os.ReadFile", // files that flags name, which may be pipes
	}
	for _, f := range sources(t, ".go") {
		if strings.HasSuffix(f.path, "_test.go") || !slices.Contains(rooms, path.Dir(f.path)) {
			continue
		}
		ast.Inspect(f.parse(t, parser.SkipObjectResolution), func(node ast.Node) bool {
			if call, ok := node.(*ast.SelectorExpr); ok {
				of, _ := call.X.(*ast.Ident)
				if of != nil && slices.Contains(unbounded, of.Name+"."+call.Sel.Name) && other[f.path] != of.Name+"."+call.Sel.Name {
					t.Errorf("%s calls %s.%s, want a function of interp/bounded", f.path, of.Name, call.Sel.Name)
				}
			}
			return true
		})
	}
}

// ofJSON maps files that decode JSON themselves to what they decode. All others use schema.Decode,
// which requires the exact keys of an object.
var ofJSON = map[string]string{
	"packaging/notices.go":              "the output of the go command",
	"runner/cases/difference.go":        "texts",
	"runner/cases/compare.go":           "the values that test compares",
	"runner/cases/parse.go":             "texts and numbers",
	"runner/check/mcp.go":               "a schema of a tool",
	"runner/check/source.go":            "the output of a script of pyplug's",
	"runner/check/stock/host.go":        "the word that pyplug starts it with",
	"runner/check/stock/run.go":         "the output of that host",
	"runner/daemon/client.go":           "any value of a stream",
	"runner/daemon/exchange.go":         "an array of texts",
	"runner/daemon/spawn.go":            "any value of a stream",
	"runner/pipe.go":                    "the output of a script of pyplug's",
	"runner/hook/messages.go":           "any value of a stream",
	"runner/hook/wire/answer.go":        "a message that a plugin returned, and bytes",
	"runner/lines/line.go":              "bytes, texts and numbers, arrays of values and of bools",
	"runner/mcp/ask.go":                 "an answer of pyplug's own server",
	"runner/mcp/message.go":             "texts and numbers",
	"runner/mcp/rules.go":               "a schema of a tool",
	"runner/pyworker/errors.go":         "a frame of the worker",
	"runner/pyworker/instance.go":       "frames of the worker",
	"runner/pyworker/pipe.go":           "a frame of the worker",
	"runner/pyworker/start.go":          "a frame of the worker",
	"runner/schema/decode.go":           "what has exact keys",
	"runner/schema/protoschema/bind.go": "arguments of a call",
	"runner/schema/protoschema/json.go": "a message",
	"runner/schema/schema.go":           "values of a template",
	"runner/schema/value.go":            "texts",
	"runner/schema/words.go":            "any value",
	"runner/calls.go":                   "the result of a hook",
}

// TestDecoders checks that objects from outside are decoded by their exact keys.
func TestDecoders(t *testing.T) {
	for _, f := range sources(t, ".go") {
		if _, ok := ofJSON[f.path]; ok || strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		ast.Inspect(f.parse(t, parser.SkipObjectResolution), func(node ast.Node) bool {
			if call, ok := node.(*ast.SelectorExpr); ok && (call.Sel.Name == "Unmarshal" || call.Sel.Name == "NewDecoder") && types.ExprString(call.X) == "json" {
				t.Errorf("%s calls json.%s, want schema.Decode", f.path, call.Sel.Name)
			}
			return true
		})
	}
}

// ofTransport lists the files of package runner that may import the package of a transport.
var ofTransport = map[string][]string{
	"runner/pyworker":   {"runner/pipe.go"},
	"runner/grpcplugin": {"runner/grpc.go"},
}

// TestTransports checks that no code asks which transport a plugin has. One value, chosen by
// [runner.Open], contains the differences.
func TestTransports(t *testing.T) {
	for _, f := range sources(t, ".go") {
		room := path.Dir(f.path)
		if strings.HasSuffix(f.path, "_test.go") || !within(room, "runner") && !within(room, "commands") || room == "runner/manifest" {
			continue
		}
		for _, found := range transportTests(f.parse(t, 0)) {
			t.Errorf("%s asks for the transport: %s", f.path, found)
		}
		for _, imported := range f.imports(t) {
			ours, _ := inModule(imported)
			if only, ok := ofTransport[ours]; ok && room == "runner" && !slices.Contains(only, f.path) {
				t.Errorf("%s: only %s may import %s", f.path, strings.Join(only, " and "), ours)
			}
		}
	}
}

// TestTransportTests checks what TestTransports detects.
func TestTransportTests(t *testing.T) {
	for body, want := range map[string]int{
		`if s.Transport == "grpc" {}`:                 1,
		`if "pipe" != transport {}`:                   1,
		`switch transport { case "pipe", "grpc": }`:   2,
		`t := "grpc"`:                                 0,
		`if s == "grpcs" { return "pipe" }`:           0,
		`switch { case t == "grpc" && !executable: }`: 1,
	} {
		f := source{"x_test.go", []byte("package x; func f() string {" + body + "}")}
		if got := transportTests(f.parse(t, 0)); len(got) != want {
			t.Errorf("%s: found %q, want %d", body, got, want)
		}
	}
}

// transportTests returns the expressions in a file that are compared with the name of a transport.
func transportTests(file *ast.File) (found []string) {
	look := func(all ...ast.Expr) {
		for _, e := range all {
			if text := types.ExprString(e); text == `"grpc"` || text == `"pipe"` {
				found = append(found, text)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				look(n.X, n.Y)
			}
		case *ast.CaseClause:
			look(n.List...)
		}
		return true
	})
	return found
}

// TestHints checks that hints are data: only hook.Word formats flags and commands, and no code
// reads the formatted text.
func TestHints(t *testing.T) {
	for _, f := range sources(t, ".go") {
		if strings.HasSuffix(f.path, "_test.go") || f.path == "runner/hook/hint.go" {
			continue
		}
		for _, found := range hintFaults(f.parse(t, 0)) {
			t.Errorf("%s: %s", f.path, found)
		}
	}
}

// TestHintFaults checks what TestHints detects.
func TestHintFaults(t *testing.T) {
	for body, want := range map[string]int{
		`schema.Hintf("raise --queue")`:                                               1,
		"schema.Hints(\"run `pyplug stop x`\")":                                       1,
		`schema.Hintf("raise %s", schema.Setting("queue"))`:                           0,
		`schema.Hintf("run %s to call it", schema.Command{"call", "--retries", "1"})`: 0,
		`schema.Hintf("write it after --")`:                                           0,
		`format, _ := h.Parts()`:                                                      1,
		`if strings.Contains(hook.Word(h), "--nan") {}`:                               1,
		`if hook.Word(h) == "x" {}`:                                                   1,
		`switch hook.Words(e.Hints)[0] { case "x": }`:                                 1,
		`text := strings.Join(hook.Words(e.Hints), "; ") + hook.Word(h)`:              0,
	} {
		f := source{"x_test.go", []byte("package x; func f() {" + body + "}")}
		if got := hintFaults(f.parse(t, 0)); len(got) != want {
			t.Errorf("%s: found %q, want %d", body, got, want)
		}
	}
}

// spelled matches a flag or a command of pyplug as it is typed.
var spelled = regexp.MustCompile("--[a-z]|`pyplug ")

// hintFaults returns the places where a file spells a flag or a command in a hint, or reads the
// words of a hint.
func hintFaults(file *ast.File) (faults []string) {
	spells := func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, _ := strconv.Unquote(l.Value); spelled.MatchString(text) {
				faults = append(faults, "want a schema.Setting or schema.Command in the hint "+l.Value)
			}
		}
		return true
	}
	reads := func(all ...ast.Expr) {
		for _, e := range all {
			if e != nil && strings.Contains(types.ExprString(e), "hook.Word") {
				faults = append(faults, "reads a hint: "+types.ExprString(e))
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch name := strings.TrimPrefix(types.ExprString(n.Fun), "schema."); {
			case name == "Hintf" || name == "Hints":
				ast.Inspect(n.Args[0], spells) // a text that is not a format may be the line of another program
			case strings.HasSuffix(name, ".Parts"):
				faults = append(faults, "reads a hint: "+name)
			case strings.HasPrefix(name, "strings.") && name != "strings.Join":
				reads(n.Args...)
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				reads(n.X, n.Y)
			}
		case *ast.SwitchStmt:
			reads(n.Tag)
		}
		return true
	})
	return faults
}

func TestPackages(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range sources(t, ".go") {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		room, tree := path.Dir(f.path), f.parse(t, parser.ParseComments|parser.PackageClauseOnly)
		switch name := tree.Name.Name; name {
		case "plugin", "shared", "util", "utils":
			t.Errorf("%s: no package is called %s", f.path, name)
		}
		doc := path.Join(room, "doc.go")
		if room == "." {
			doc = "main.go" // too short for a doc.go
		}
		documented[room] = documented[room] || f.path == doc && tree.Doc != nil
	}
	for room, ok := range documented {
		if !ok {
			t.Errorf("%s has no doc.go with a package comment", room)
		}
	}
}

func TestFileLength(t *testing.T) {
	generated := regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	for _, f := range sources(t, ".go", ".py") {
		name, limit := path.Base(f.path), 400
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "test_") {
			limit = 600
		}
		if n := bytes.Count(f.text, []byte("\n")); n > limit && !generated.Match(f.text) {
			t.Errorf("%s has %d lines, want at most %d", f.path, n, limit)
		}
	}
}

// delays lists files with programs that are slow on purpose.
var delays = []string{"runner/grpcplugin/main_test.go", "runner/grpcplugin/health_test.go"}

// TestNoSleep checks that tests wait for events, not for the clock: no test calls Sleep or receives
// from a timer outside of a select that also waits for something else. Inside a synctest bubble the
// test controls the clock, so a sleep is allowed. A sleep of an hour is also allowed, for a test
// program that hangs.
func TestNoSleep(t *testing.T) {
	for _, f := range sources(t, ".go") {
		if !strings.HasSuffix(f.path, "_test.go") || slices.Contains(f.imports(t), "testing/synctest") || slices.Contains(delays, f.path) {
			continue
		}
		for _, line := range sleeps(f.parse(t, 0)) {
			t.Errorf("%s sleeps: %s", f.path, line)
		}
	}
}

// TestSleeps checks what TestNoSleep detects.
func TestSleeps(t *testing.T) {
	for body, want := range map[string]int{
		"time.Sleep(time.Second)":                                     1,
		"time.Sleep(time.Hour)":                                       0,
		"<-time.After(d)":                                             1,
		"at := <-time.Tick(d)":                                        1,
		"do(<-time.NewTimer(d).C)":                                    1,
		"select { case <-time.After(d): }":                            1,
		"select { case <-time.After(d): case <-done: }":               0,
		"select { case <-time.After(d): default: }":                   0,
		"select { case <-done: case at := <-time.After(d): do(at)}":   0,
		"select { case <-done: <-time.After(d); case <-ctx.Done(): }": 1,
		"<-done": 0,
	} {
		f := source{"x_test.go", []byte("package x; func f() {" + body + "}")}
		if got := sleeps(f.parse(t, 0)); len(got) != want {
			t.Errorf("%s: found %q, want %d", body, got, want)
		}
	}
}

// sleeps returns the expressions in a file that wait only for the clock.
func sleeps(file *ast.File) (found []string) {
	beside := map[ast.Node]bool{} // receives of a select that also waits for something else
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectStmt:
			for _, clause := range n.Body.List {
				switch comm := clause.(*ast.CommClause).Comm.(type) {
				case *ast.ExprStmt:
					beside[comm.X] = len(n.Body.List) > 1
				case *ast.AssignStmt:
					beside[comm.Rhs[0]] = len(n.Body.List) > 1
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !beside[n] && isClock(n.X) {
				found = append(found, types.ExprString(n))
			}
		case *ast.CallExpr:
			if isTime(n.Fun, "Sleep") && !isTime(n.Args[0], "Hour") {
				found = append(found, types.ExprString(n))
			}
		}
		return true
	})
	return found
}

// isClock reports whether an expression is the channel of a timer.
func isClock(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		return isTime(e.Fun, "After") || isTime(e.Fun, "Tick")
	case *ast.SelectorExpr:
		return e.Sel.Name == "C"
	}
	return false
}

// isTime reports whether an expression is time.name.
func isTime(e ast.Expr, name string) bool {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return ok && pkg.Name == "time"
}

// source is a file of this repository. Its path has slashes.
type source struct {
	path string
	text []byte
}

// sources returns the files of this module with one of the endings, for all systems. Files below
// testdata are not part of the program.
func sources(t *testing.T, endings ...string) []source {
	t.Helper()
	var found []source
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "testdata" || strings.ContainsAny(d.Name()[:1], "._")):
			return filepath.SkipDir
		case d.IsDir() || !slices.Contains(endings, filepath.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(name)
		found = append(found, source{filepath.ToSlash(name), text})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (f source) parse(t *testing.T, mode parser.Mode) *ast.File {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, mode)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func (f source) imports(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, spec := range f.parse(t, parser.ImportsOnly).Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, imported)
	}
	return paths
}

// inModule returns the package of this module that an import path names.
func inModule(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

func within(imported, prefix string) bool {
	return imported == prefix || strings.HasPrefix(imported, prefix+"/")
}
