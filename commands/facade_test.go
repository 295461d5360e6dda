package commands_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestFacade checks that the files of package runner, and those of package plan, do not depend on
// each other in a cycle.
func TestFacade(t *testing.T) {
	for _, room := range []string{"runner", "runner/plan"} {
		t.Run(room, func(t *testing.T) { goesDown(t, room) })
	}
}

func goesDown(t *testing.T, room string) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, f := range sources(t, ".go") {
		if path.Dir(f.path) != room || strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, f.path, f.text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// Without an importer, names of other packages are unknown. They do not matter here.
	checker := types.Config{Error: func(error) {}}
	facade, _ := checker.Check(room, fset, files, info)

	needs := map[string]map[string]bool{} // by file
	for id, used := range info.Uses {
		from, to := fset.Position(id.Pos()).Filename, fset.Position(used.Pos()).Filename
		_, function := used.(*types.Func)
		if used.Pkg() != facade || from == to || !function && used.Parent() != facade.Scope() {
			continue
		}
		if needs[from] == nil {
			needs[from] = map[string]bool{}
		}
		needs[from][to] = true
	}
	if len(needs) < 5 {
		t.Fatalf("found the needs of %d files only", len(needs))
	}
	lowest := func(_ string, of map[string]bool) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Keys(of)), func(to string) bool { return needs[to] != nil })
	}
	for before := 0; before != len(needs); {
		before = len(needs)
		maps.DeleteFunc(needs, lowest)
	}
	for from, to := range needs {
		t.Errorf("%s is in a circle of files, or above one: it needs %s", from, slices.Sorted(maps.Keys(to)))
	}
}
