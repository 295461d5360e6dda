package pysrc_test

import (
	"slices"
	"testing"

	"github.com/pyplug/pyplug/interp/pysrc"
)

// TestInstallRequires checks the requirements that setuptools reads from such files.
func TestInstallRequires(t *testing.T) {
	for text, want := range map[string][]string{
		"[metadata]\nname = x\n": nil,
		"[options]\ninstall_requires =\n    numpy>=2\n    # a comment\n\n    six; python_version < '4'\npackages = find:\n": {"numpy>=2", "six; python_version < '4'"},
		"[options]\ninstall_requires = a; b>1\n":                                                          {"a", "b>1"},
		"[options]\r\ninstall-requires: a\r\n\tb\r\n[options.extras_require]\r\ninstall_requires = c\r\n": {"a", "b"},
		"[options]\ninstall_requires =\n":                                                                 {},
		"[options]\ninstall_requires = file: requirements.txt\n":                                          nil,
		"install_requires = a\n[tool]\ninstall_requires = b\n":                                            nil,
	} {
		if got := pysrc.InstallRequires(text); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%q\ngot %q, want %q", text, got, want)
		}
	}
}
