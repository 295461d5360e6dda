package pysrc

import "testing"

func TestDocstring(t *testing.T) {
	for text, want := range map[string]string{
		`"""Counts."""`: "Counts.",
		"#!/usr/bin/python3\n# -*- x -*-\n\n'''\n  One.\n\n    Two.\n'''\nx = 1": "One.\n\n  Two.",
		"r'Raw.'\n":                    "Raw.",
		"\"\"\"A\r\n  b\r\n\"\"\"\r\n": "A\nb",
		"import os\n\"\"\"No.\"\"\"":   "",
		"'not\nended'":                 "",
		`"""no end`:                    "",
		"":                             "",
		"b'bytes'":                     "",
	} {
		if got := Docstring(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
