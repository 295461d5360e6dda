package completions

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// hostile are candidates that a shell must treat only as text.
var hostile = []string{
	"hello world", `a'b"c`, "$(touch RAN)", "`touch RAN`", "${USER}x", `back\slash x`, `Q\:colon`, `trailing\`, "bang!x y", "fin!", "star*",
	"quest?", "brack[et]", "{a,b}", "~root", "#hash", "semi;colon", "&amp", "|pipe", "<lt>", "(paren)", "^caret", "%percent x", "=eq",
	"eq=ual x", "col:on x", "at@x y", "'single'", `"double"`, "ends'", `Ends"`, "two  spaces", "two x$y", "étoile ü", "-dash x",
	"name=hello world", "name=$(touch RAN)", "--name=hello world", "--name=col:on x",
}

// typed lists typed words, in which \t is the Tab key, each with the word that the program gets.
var typed = [][2]string{
	// Half-typed, with every kind of quote.
	{"hel\t", "hello world"}, {"'hel\t", "hello world"}, {"\"hel\t", "hello world"}, {"h'el\t", "hello world"}, {"h\"el\t", "hello world"},
	{"'hel'\t", "hello world"}, {"\"hel\"\t", "hello world"}, {"hello\\ \t", "hello world"}, {"hello\\ w\t", "hello world"},
	{"'hello \t", "hello world"}, {"\"hello w\t", "hello world"}, {"hello\\ world\t", "hello world"}, {"'hello world'\t", "hello world"},
	{"hel\\\t", "hello world"},
	// Expansions, escapes and globs.
	{"\\$\\(\t", "$(touch RAN)"}, {"'$(\t", "$(touch RAN)"}, {"\\$\\{\t", "${USER}x"}, {"\\`\t", "`touch RAN`"}, {"'`t\t", "`touch RAN`"},
	{"bac\t", `back\slash x`}, {"'bac\t", `back\slash x`}, {"\"bac\t", `back\slash x`}, {"back\\\\\t", `back\slash x`},
	{"Q\t", `Q\:colon`}, {"tr\t", `trailing\`}, {"'tr\t", `trailing\`}, {"\"tr\t", `trailing\`},
	{"ban\t", "bang!x y"}, {"'ban\t", "bang!x y"}, {"\"ban\t", "bang!x y"}, {"fi\t", "fin!"}, {"'fi\t", "fin!"}, {"\"fi\t", "fin!"},
	{"sta\t", "star*"}, {"que\t", "quest?"}, {"bra\t", "brack[et]"}, {"\\{\t", "{a,b}"}, {"\\~\t", "~root"}, {"\\#\t", "#hash"},
	{"sem\t", "semi;colon"}, {"\\&\t", "&amp"}, {"\\|\t", "|pipe"}, {"\\<\t", "<lt>"}, {"\\(\t", "(paren)"}, {"\\^\t", "^caret"},
	{"%\t", "%percent x"}, {"\\=\t", "=eq"},
	// Quotes in a candidate.
	{"a\\'\t", `a'b"c`}, {"\"a'\t", `a'b"c`}, {"\\'\t", "'single'"}, {"\"'\t", "'single'"}, {"\\\"\t", `"double"`},
	{"'\"\t", `"double"`}, {"end\t", "ends'"}, {"'end\t", "ends'"}, {"\"end\t", "ends'"}, {"End\t", `Ends"`}, {"'End\t", `Ends"`},
	{"\"End\t", `Ends"`},
	// Word breaks of bash, and a candidate with the name of its parameter.
	{"eq\t", "eq=ual x"}, {"eq=u\t", "eq=ual x"}, {"'eq=u\t", "eq=ual x"}, {"col:\t", "col:on x"}, {"col\\:\t", "col:on x"},
	{"at@\t", "at@x y"}, {"at\\@\t", "at@x y"}, {"name=h\t", "name=hello world"}, {"name='h\t", "name=hello world"},
	{"name=\"hello w\t", "name=hello world"}, {"name=\\$\t", "name=$(touch RAN)"}, {"--name=h\t", "--name=hello world"},
	{"'--name=h\t", "--name=hello world"}, {"--name=col:o\t", "--name=col:on x"}, {"-d\t", "-dash x"},
	{"tw\tx\t", "two x$y"}, {"'tw\tx\t", "two x$y"}, {"\"tw\tx\t", "two x$y"}, {"éto\t", "étoile ü"},
	// Files.
	{"my\t", "my file.py"}, {"'my\t", "my file.py"}, {"\"my\t", "my file.py"}, {"my\\ f\t", "my file.py"}, {"it\t", "it's.py"},
	{"\"it\t", "it's.py"}, {"file@=my\t", "file@=my file.py"}, {"file@='my\t", "file@=my file.py"}, {"--file=my\t", "--file=my file.py"},
	{"~/my\t", "HOME/my file.py"}, {"o\tx\t", "our files/x y.py"}, {"'our files/x\t", "our files/x y.py"},
}

// filter replaces pyplug. __complete prints the hostile candidates. Other commands write their
// words to a FIFO.
const filter = `#!/bin/sh
if [ "$1" != __complete ]; then
    { printf '%s\0' "$@"; printf '\0'; } >"$FAKE_DIR/words"
    exit
fi
for last; do :; done
while IFS= read -r word; do
    case $word in "$last"*) printf '%s\tAbout: it.\n' "$word" ;; esac
done <"$FAKE_DIR/hostile"
echo :files
`

// TestTerminal checks that Tab inserts the candidate as one word, in a shell in a terminal.
func TestTerminal(t *testing.T) {
	shells := map[string]struct {
		args   []string
		setup  string
		except []string // words that the shell itself does not complete
	}{
		"bash": {[]string{"--norc", "--noprofile", "-i"}, "PS1='> '; source SCRIPT", []string{"\\=\t"}},
		"zsh":  {[]string{"-f", "-i"}, "PS1='> '; autoload -U compinit; compinit -u; source SCRIPT", []string{"back\\\\\t"}},
		"fish": {[]string{"--no-config", "-i"}, "source SCRIPT", []string{"~/my\t"}},
	}
	for shell, c := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			path, python := find(t, shell), find(t, "python3")
			script, err := filepath.Abs(names[shell])
			if err != nil {
				t.Fatal(err)
			}
			work := t.TempDir()
			for _, name := range []string{"my file.py", "it's.py", "our files/x y.py"} {
				write(t, filepath.Join(work, name), "")
			}
			rows := slices.DeleteFunc(slices.Clone(typed), func(row [2]string) bool { return slices.Contains(c.except, row[0]) })
			got := inTerminal(t, python, append([]string{path}, c.args...), strings.ReplaceAll(c.setup, "SCRIPT", script), work, rows)
			for i, row := range rows {
				words, _ := got[i].([]any)
				if want := strings.Replace(row[1], "HOME", work, 1); len(words) != 2 || words[1] != want {
					t.Errorf("typed %q, got %q, want %q", row[0], got[i], want)
				}
			}
			if left, err := filepath.Glob(filepath.Join(work, "RAN*")); len(left) > 0 || err != nil {
				t.Errorf("a candidate was run: %v, %v", left, err)
			}
		})
	}
}

// inTerminal types rows into a shell. For each row it returns the words that the program gets, or
// the screen if the program does not run.
func inTerminal(t *testing.T, python string, shell []string, setup, work string, rows [][2]string) (got []any) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bin", "pyplug"), filter)
	write(t, filepath.Join(dir, "hostile"), strings.Join(hostile, "\n")+"\n")
	if err := syscall.Mkfifo(filepath.Join(dir, "words"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = "pyplug run " + row[0]
	}
	asked, err := json.Marshal(map[string]any{"shell": shell, "setup": setup, "dir": dir, "cwd": work, "lines": lines})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/terminal.py")
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(asked)), os.Stderr
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+work, "FAKE_DIR="+dir, "TERM=xterm", "LC_ALL=C.UTF-8")
	output, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(output, &got)
	}
	if err != nil || len(got) != len(rows) {
		t.Fatalf("%v, %d answers for %d lines", err, len(got), len(rows))
	}
	return got
}
