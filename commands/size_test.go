package commands_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// size is the size of a package, without tests.
type size struct {
	tokens, lines int // lines with a token, without blank lines and comments
	types, funcs  int
	once          int // functions whose name occurs once outside of their declaration
}

// TestSize checks that no package has more tokens than its budget in docs/ARCHITECTURE.md. `make
// size` prints the sizes.
func TestSize(t *testing.T) {
	sizes, sum := sizes(t), size{}
	table := budgets(t)
	t.Logf("%-26s %7s %7s %6s %6s %6s %6s", "room", "tokens", "budget", "lines", "types", "funcs", "once")
	for _, room := range slices.Sorted(maps.Keys(sizes)) {
		s := sizes[room]
		t.Logf("%-26s %7d %7d %6d %6d %6d %6d", room, s.tokens, table[room], s.lines, s.types, s.funcs, s.once)
		sum.tokens, sum.lines, sum.types, sum.funcs, sum.once = sum.tokens+s.tokens, sum.lines+s.lines, sum.types+s.types, sum.funcs+s.funcs, sum.once+s.once
		if s.tokens > table[room] {
			t.Errorf("%s has %d tokens, and its budget in docs/ARCHITECTURE.md is %d: make it simpler, or raise the budget in the same commit and say why", room, s.tokens, table[room])
		}
	}
	t.Logf("%-26s %7d %7s %6d %6d %6d %6d", "all", sum.tokens, "", sum.lines, sum.types, sum.funcs, sum.once)
	logWorker(t)
}

// budgets returns the budget of each package, the column before the last one in the table.
func budgets(t *testing.T) map[string]int {
	t.Helper()
	table := map[string]int{}
	for room, columns := range roomRows(t) {
		n, err := strconv.Atoi(strings.ReplaceAll(columns[2], " ", ""))
		if err != nil {
			t.Errorf("docs/ARCHITECTURE.md: %s: %v", room, err)
		}
		table[room] = n
	}
	return table
}

// sizes measures every package.
func sizes(t *testing.T) map[string]size {
	t.Helper()
	all := map[string]size{}
	declared, used := map[string][]string{}, map[string]int{} // the packages of functions, and the uses, by name
	for _, f := range sources(t, ".go") {
		room := path.Dir(f.path)
		if strings.HasSuffix(f.path, "_test.go") || slices.Contains(testsOnly, room) {
			continue
		}
		s := all[room]
		tokens, lines := count(t, f.path)
		s.tokens, s.lines = s.tokens+tokens, s.lines+lines
		ast.Inspect(f.parse(t, parser.SkipObjectResolution), func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.TypeSpec:
				s.types++
			case *ast.FuncDecl:
				s.funcs++
				declared[node.Name.Name] = append(declared[node.Name.Name], room)
				used[node.Name.Name]-- // the declaration itself
			case *ast.Ident:
				used[node.Name]++
			}
			return true
		})
		all[room] = s
	}
	for name, rooms := range declared {
		if len(rooms) == 1 && used[name] == 1 { // if several functions have a name, it is unknown which one is called
			s := all[rooms[0]]
			s.once++
			all[rooms[0]] = s
		}
	}
	return all
}

// count counts the tokens of a file, without comments and inserted semicolons, and its lines that
// have a token.
func count(t *testing.T, name string) (tokens, lines int) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file := token.NewFileSet().AddFile(name, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for last := 0; ; {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return tokens, lines
		}
		if tok == token.SEMICOLON && literal != ";" {
			continue
		}
		tokens++
		first := file.Line(pos)
		end := first + strings.Count(literal, "\n")
		lines += end - max(first-1, last)
		last = end
	}
}

// workerSize is a Python program that counts tokens, lines, classes and functions.
const workerSize = `
import ast, sys, tokenize
tokens, lines, classes, funcs = 0, set(), 0, 0
skip = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}
for name in sys.argv[1:]:
    with tokenize.open(name) as f:
        for t in tokenize.generate_tokens(f.readline):
            if t.type not in skip:
                tokens += 1
                lines.update((name, n) for n in range(t.start[0], t.end[0] + 1))
    with open(name, "rb") as f:
        for node in ast.walk(ast.parse(f.read())):
            classes += isinstance(node, ast.ClassDef)
            funcs += isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
print(tokens, len(lines), classes, funcs)
`

// logWorker logs the size of the worker, with its docstrings, if there is a Python.
func logWorker(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("runner/pyworker/worker/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no worker: %v", err)
	}
	out, err := exec.CommandContext(t.Context(), "python3", append([]string{"-c", workerSize}, files...)...).Output()
	if err != nil {
		t.Logf("the worker is not measured: %v", err)
		return
	}
	var s size
	if _, err := fmt.Sscan(string(out), &s.tokens, &s.lines, &s.types, &s.funcs); err != nil {
		t.Fatal(err)
	}
	t.Logf("%-26s %7d %7s %6d %6d %6d", "the worker, in Python", s.tokens, "", s.lines, s.types, s.funcs)
}
