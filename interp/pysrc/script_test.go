package pysrc

import (
	"strings"
	"testing"
)

func TestScript(t *testing.T) {
	for _, c := range []struct {
		name, source, want string
		line               int
	}{
		{"none", "import os\n", "", 0},
		{"one", "#!/usr/bin/env python\n# /// script\n# requires-python = \">=3.11\"\n#\n# a = 1\n# ///\nimport os\n", "requires-python = \">=3.11\"\n\na = 1\n", 3},
		{"at the end without newline", "# /// script\n# a = 1\n# ///", "a = 1\n", 2},
		{"carriage returns", "# /// script\r\n# a = 1\r\n# ///\r\n", "a = 1\n", 2},
		{"byte order mark", "\ufeff# /// script\n# a = 1\n# ///\n", "a = 1\n", 2},
		{"unclosed", "# /// script\n# a = 1\n\nimport os\n", "", 0},
		{"unclosed, closed after a gap", "# /// script\n# a = 1\n\n# ///\n", "", 0},
		{"the last closing line counts", "# /// script\n# a = 1\n# ///\n# b = 2\n# ///\n", "a = 1\n///\nb = 2\n", 2},
		{"another type", "# /// other\n# a = 1\n# ///\n", "", 0},
		{"another type before", "# /// other\n# a = 1\n# ///\n\n# /// script\n# b = 1\n# ///\n", "b = 1\n", 6},
		{"no space after the sign ends it", "# /// script\n#a = 1\n# ///\n", "", 0},
		{"indented", "  # /// script\n  # a = 1\n  # ///\n", "", 0},
		{"trailing space on the opening", "# /// script \n# a = 1\n# ///\n", "", 0},
		{"empty", "# /// script\n# ///\n", "", 0},
		{"empty unclosed before a good one", "# /// script\nx = 1\n# /// script\n# a = 1\n# ///\n", "a = 1\n", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Script(Decode([]byte(c.source)))
			if err != nil || got.Text != c.want || got.Line != c.line {
				t.Errorf("got %q at %d, %v; want %q at %d", got.Text, got.Line, err, c.want, c.line)
			}
		})
	}
}

func TestScriptTwice(t *testing.T) {
	_, err := Script("# /// script\n# a = 1\n# ///\n\n# /// script\n# a = 1\n# ///\n")
	if err == nil || err.Error() != "line 5: a second script block, the first is on line 1, want one" {
		t.Errorf("got %v", err)
	}
}

func TestDecode(t *testing.T) {
	for source, want := range map[string]string{
		"x = 'é'\n":                       "x = 'é'\n",
		"# coding: latin-1\nx = '\xe9'\n": "# coding: latin-1\nx = 'é'\n",
		"\xef\xbb\xbfx\r\ny\r":            "x\ny\n",
		"'\ufffd'\n":                      "'\ufffd'\n",
		"":                                "",
	} {
		if got := Decode([]byte(source)); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}

func FuzzScript(f *testing.F) {
	f.Add([]byte("# /// script\n# a = 1\n# ///\n"))
	f.Add([]byte("\xef\xbb\xbf# coding: latin-1\r\n# /// script\r#\n# ///"))
	f.Fuzz(func(t *testing.T, source []byte) {
		text := Decode(source)
		block, err := Script(text)
		if err != nil || block.Line == 0 {
			return
		}
		// Every line of the block is the line of the source without its sign.
		lines := strings.Split(text, "\n")
		for i, line := range strings.Split(strings.TrimSuffix(block.Text, "\n"), "\n") {
			if have := lines[block.Line-1+i]; have != "#" && have != "# "+line {
				t.Errorf("line %d: %q is not %q", block.Line+i, line, have)
			}
		}
	})
}
