package pysrc

import (
	"errors"
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
		{"the last closing line counts", "# /// script\n# a = 1\n# ///\n# b = 2\n# ///\n", "a = 1\n///\nb = 2\n", 2},
		{"another type", "# /// other\n# a = 1\n# ///\n", "", 0},
		{"another type before", "# /// other\n# a = 1\n# ///\n\n# /// script\n# b = 1\n# ///\n", "b = 1\n", 6},
		{"indented", "  # /// script\n  # a = 1\n  # ///\n", "", 0},
		{"empty", "# /// script\n# ///\n", "", 0},
		{"empty, before another one", "# /// script\n# ///\n\n# /// script\n# a = 1\n# ///\n", "a = 1\n", 5},
		{"an unclosed one of another type", "# /// other\n# a = 1\n", "", 0},
		{"in one of another type", "# /// other\n# /// script\n# a = 1\n# ///\n", "", 0},
		{"no space in the opening", "# ///script\n# a = 1\n# ///\n#/// script\n", "", 0},
		{"more than the opening", "# /// scripts\n# a = 1\n\n# /// script of mine\n\nx = '# /// script'\n", "", 0},
		{"in a string", "x = '''\n# /// script\n# a = 1\n# ///\n'''\n", "a = 1\n", 3}, // as other tools read it
		{"one, and another in a string", "# /// script\n# a = 1\n# ///\nx = r\"\"\"\n# /// script\n# b = 1\n# ///\n\"\"\"\n", "a = 1\n", 2},
		{"two in strings", "x = '''\n# /// script\n# a = 1\n# ///\n\n# /// script\n# b = 1\n# ///\n'''\n", "", 0},
		{"unclosed in a string", "def f():\n    '''Writes\n# /// script\n# a = 1\n    '''\n", "", 0},
		{"blanks in a string", "x = '''\\\n# /// script \n# a = 1\n# /// \n'''\n# /// script\n# b = 1\n# ///\n", "b = 1\n", 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Script(Decode([]byte(c.source)))
			if err != nil || got.Text != c.want || got.Line != c.line {
				t.Errorf("got %q at %d, %v; want %q at %d", got.Text, got.Line, err, c.want, c.line)
			}
		})
	}
}

// TestScriptMistakes checks that a block with a mistake is an error at its line.
func TestScriptMistakes(t *testing.T) {
	for source, want := range map[string]string{
		"# /// script\n# a = 1\n# ///\n\n# /// script\n# a = 1\n# ///\n": "line 5: a second script block, the first is on line 1, expected one",
		"# /// script\n# a = 1\n\nimport os\n":                           "line 1: the script block is not closed",
		"'''text'''\n# /// script\n# a = 1":                              "line 2: the script block is not closed",
		"# /// script\nx = 1\n# /// script\n# a = 1\n# ///\n":            "line 1: the script block is not closed",
		"# /// script\n# a = 1\n# ///\n\n# /// script\n":                 "line 5: the script block is not closed",
		"# /// script\n# a = 1\n\n# ///\n":                               "line 1: the script block is not closed",
		"# /// script\n# a = 1\n# /// \nimport os\n":                     `line 3: "# /// " ends with blanks, expected "# ///"`,
		"\ufeff# /// script\r\n# a = 1\r\n# ///\t\r\n":                   `line 3: "# ///\t" ends with blanks, expected "# ///"`,
		"# /// script \n# a = 1\n# ///\n":                                `line 1: "# /// script " ends with blanks, expected "# /// script"`,
		"# /// script\n#a = 1\n# ///\n":                                  `line 2: "#a = 1" is in a script block, expected a blank after #`,
		"# /// script\n# a = 1\n#///\n":                                  `line 3: "#///" is in a script block, expected a blank after #`,
	} {
		got, err := Script(Decode([]byte(source)))
		if mistake := (*BlockError)(nil); !errors.As(err, &mistake) || err.Error() != want || mistake.Fix == "" {
			t.Errorf("%q: got %v, %v, want %s", source, got, err, want)
		}
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
		// Every line of the block is the line of the source without its comment sign.
		lines := strings.Split(text, "\n")
		for i, line := range strings.Split(strings.TrimSuffix(block.Text, "\n"), "\n") {
			if have := lines[block.Line-1+i]; have != "#" && have != "# "+line {
				t.Errorf("line %d: %q is not %q", block.Line+i, line, have)
			}
		}
	})
}
