package runner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// TestHookNames compares names.py, which reads a source, with the worker: both must find the same
// hooks.
func TestHookNames(t *testing.T) {
	runnertest.NothingLeft(t)
	for name, test := range map[string]struct{ text, want string }{
		"functions":      {"def b(): pass\ndef a(): pass\nasync def c(): pass\ndef _d(): pass\nx = 1\n", "b a c"},
		"imported":       {"from os.path import join\nimport json\nfrom json import loads as parse\ndef a(): pass\n", "a"},
		"lambda":         {"double = lambda x: 2 * x\n", "double"},
		"condition":      {"if True:\n    def a(): pass\ntry:\n    import nope\nexcept ImportError:\n    def c(): pass\n", "a c"},
		"decorated":      {"import functools\n@functools.lru_cache\ndef a(): pass\n@functools.wraps(a)\ndef b(): pass\n", "a b"},
		"class":          {"class C:\n    def m(self): pass\n    def _p(self): pass\n    x = 1\n", "C.m"},
		"arguments":      {"class C:\n    def __init__(self, x): pass\n    def m(self): pass\n    @staticmethod\n    def s(): pass\n    @classmethod\n    def c(cls): pass\n", "C.s C.c"},
		"defaults":       {"class C:\n    def __init__(self, x=1, *, y=2): pass\n    def m(self): pass\n", "C.m"},
		"object":         {"class C:\n    def __init__(self, x): pass\n    def m(self): pass\nc = C(1)\n", "c.m"},
		"private class":  {"class _C:\n    def m(self): pass\nc = _C()\n", "c.m"},
		"all":            {"__all__ = ['b', '_c']\ndef a(): pass\ndef b(): pass\ndef _c(): pass\n", "b _c"},
		"all imported":   {"from os.path import join\n__all__ = ['join']\ndef a(): pass\n", "join"},
		"nothing":        {"x = 1\n", ""},
		"library object": {"import unittest.mock\napp = unittest.mock.Mock()\ndef a(): pass\n", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := file(t, test.text)
			cfg.Once = true
			want := strings.Fields(test.want)
			slices.Sort(want)
			if got := hookNames(runner.SourceHooks(t.Context(), cfg)); !slices.Equal(got, want) {
				t.Errorf("the source shows %q, want %q", got, want)
			}
			sch, err := keep(t, cfg).Hooks(t.Context(), schema.Query{})
			if got := hookNames(sch.Hooks); err != nil || !slices.Equal(got, want) {
				t.Errorf("the worker has %q, %v, want %q", got, err, want)
			}
		})
	}
}

// hookNames returns the sorted names of hooks.
func hookNames(hooks []schema.Hook) (names []string) {
	for _, h := range hooks {
		names = append(names, h.Name)
	}
	slices.Sort(names)
	return names
}

// TestSourceFlags checks that the source and the worker agree on which parameters are flags.
func TestSourceFlags(t *testing.T) {
	cfg := file(t, "from typing import *\ndef f(p: bool, /, a: bool, b: 'Optional[bool]', c: Annotated[bool, 1], d: Optional[Annotated[bool, 1]], e: 'None | bool', g: Final[bool], *, h=False, "+
		"i: int, j: Literal[True], k: Union[bool, int], l: List[bool], m: Any = True): pass\n")
	cfg.Once = true
	sch, err := keep(t, cfg).Hooks(t.Context(), schema.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for _, hooks := range [][]schema.Hook{runner.SourceHooks(t.Context(), cfg), sch.Hooks} {
		flags := ""
		for _, p := range hooks[0].Params {
			if p.Flag {
				flags += p.Name
			}
		}
		if flags != "abcdegh" {
			t.Errorf("got %s, want abcdegh", flags)
		}
	}
}

// TestSourceSchema checks that pyplug derives a JSON Schema of the arguments from the source, even
// if the source does not show the parameters.
func TestSourceSchema(t *testing.T) {
	cfg := file(t, "from typing import Literal\ndef f(a: Literal['x', 1], b=2, *r, **kw): pass\ndef g(a): pass\nh = lambda x: x\n")
	wants := []string{
		`{"additionalProperties":true,"properties":{"a":{"enum":["x",1]},"b":{},"r":{"type":"array"}},"type":"object"}`,
		`{"additionalProperties":false,"properties":{"a":{}},"type":"object"}`, `{"type":"object"}`,
	}
	for i, h := range runner.SourceHooks(t.Context(), cfg) {
		if string(h.Input) != wants[i] {
			t.Errorf("%s: got %s, want %s", h.Name, h.Input, wants[i])
		}
	}
}
