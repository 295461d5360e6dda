package interp

import (
	"fmt"
	"strings"
	"testing"
)

// TestPinForms checks that a pin is read in every form that editors and shells write. A pin that
// does not parse is an error with its line. A pin that is not followed is noted.
func TestPinForms(t *testing.T) {
	opt := base("opt")
	const pinned, fromPath = "a/python3.13 3.13 .python-version", "opt/bin/python3 3.12.4 PATH"
	bad := func(line, text string) string {
		return "error: .python-version: plug/.python-version:" + line + " is " + text + ", expected a version such as 3.12, specifiers such as >=3.11, or a name"
	}
	for text, want := range map[string]string{
		"\xef\xbb\xbf3.13":                         pinned,
		"\xff\xfe3\x00.\x001\x003\x00\r\x00\n\x00": pinned,
		"\xfe\xff\x003\x00.\x001\x003":             pinned,
		"\r\n# a comment\r\n  3.13\t# another\r\n": pinned,
		"v3.13":          pinned,
		"CPython@3.13":   pinned,
		"Python 3.13.2":  pinned, // as python -V prints it
		"3.11 3.13":      pinned, // pyenv reads the words of a line
		">=3.13, <3.14":  pinned,
		"3.13.0rc2":      pinned,
		"":               fromPath,
		"\xef\xbb\xbf\n": fromPath,

		"3.x":                           bad("1", `"3.x"`),
		"# one\n3.13\n3.12.":            bad("3", `"3.12."`),
		`"3.13"`:                        bad("1", `"\"3.13\""`),
		"^3.13":                         bad("1", `"^3.13"`),
		">=3.x":                         bad("1", `">=3.x"`),
		"3,13":                          bad("1", `"3,13"`),
		"313":                           bad("1", `"313"`),
		"3\x00.\x001\x003\x00":          bad("1", `"3\x00.\x001\x003\x00"`), // UTF-16 without a mark
		"\xff\xfe\x00\x003\x00\x00\x00": bad("1", `"\x003\x00"`),            // UTF-32
		"3.14":                          "error: .python-version: plug/.python-version pins Python 3.14, which is not installed",
		"3.14.0rc2":                     "error: .python-version: plug/.python-version pins Python 3.14.0rc2, which is not installed",
		"mine":                          fromPath + "; mine",
		"2024-project":                  fromPath + "; 2024-project",
		"pypy3.10":                      fromPath + "; pypy3.10",
		"/usr/bin/none":                 fromPath + "; /usr/bin/none",
		"3.12.0/envs/mine":              fromPath + "; 3.12.0/envs/mine",
		"3.9\nmine":                     fromPath + "; 3.9; mine", // requires-python excludes 3.9
		"mine\nsystem":                  fromPath,
		"mine\n3.13":                    pinned,
	} {
		t.Run(text, func(t *testing.T) {
			want, notes, _ := strings.Cut(want, "; ")
			c := findCase{tree: lines(opt, []string{"x a/python3.13", "f plug/.python-version " + text}), requires: []string{">=3.10 p.py"},
				environ: []string{"PATH=$ROOT/opt/bin:$ROOT/a", "PYENV_ROOT=$ROOT/pyenv"}}
			root, found, err := search(t, c)
			got := fmt.Sprintf("%s %s %s", found.Path, found.Version, found.Source)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got = strings.ReplaceAll(got, root+"/", ""); got != want {
				t.Errorf("got %s\nwant %s", got, want)
			}
			var skipped []string
			for _, attempt := range found.Skipped {
				skipped = append(skipped, attempt.Path)
			}
			if got := strings.Join(skipped, "; "); got != notes {
				t.Errorf("noted %q, want %q", got, notes)
			}
		})
	}
}
