package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp/pysrc"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestImports holds two readers of imports to one table: pysrc, which runs no Python, and
// source.py. None of the modules exists, so both must report each of them.
func TestImports(t *testing.T) {
	python := runnertest.Python(t)
	for _, c := range []struct{ text, want string }{
		{"import zz_a", "zz_a"},
		{"import zz_a as a, zz_b", "zz_a zz_b"},
		{"import zz_a.b.c", "zz_a"},
		{"from zz_a.b import c as d, e", "zz_a"},
		{"from zz_a import (\n    b,  # c\n    d,\n)", "zz_a"},
		{"from zz_a import *", "zz_a"},
		{"import \\\n    zz_a", "zz_a"},
		{"x = 1; import zz_a", "zz_a"},
		{"def f():\n\timport zz_a", "zz_a"},
		{"if x:\n    import zz_a\nelse:\n    import zz_b", "zz_a zz_b"},
		{"class A:\n    async def f(self):\n        with x:\n            from zz_a import b", "zz_a"},
		{"'''\nimport zz_a\n'''\n# import zz_b\nx = 'import zz_c'", ""},
		{"import os, json", ""},
	} {
		l := sourceIn(t, python, map[string]string{"plugin.py": c.text + "\n"})
		answer, err := askSource(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		_, others := pysrc.Own(l.Scripts[0], l.Place.Dirs(), pysrc.Short)
		var bySource, byPysrc []string
		add := func(names []string, module string) []string {
			top, _, _ := strings.Cut(module, ".")
			if !strings.HasPrefix(top, "zz_") || slices.Contains(names, top) {
				return names
			}
			return append(names, top)
		}
		for _, m := range answer.Missing {
			bySource = add(bySource, m.Missing)
		}
		for _, o := range others {
			byPysrc = add(byPysrc, o.Module)
		}
		slices.Sort(bySource)
		slices.Sort(byPysrc)
		want := strings.Fields(c.want)
		if !slices.Equal(bySource, want) || !slices.Equal(byPysrc, want) {
			t.Errorf("source.py found %q, pysrc %q, want %q in\n%s", bySource, byPysrc, want, c.text)
		}
	}
}
