package completions

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestScripts(t *testing.T) {
	if want := []string{"bash", "fish", "powershell", "zsh"}; !slices.Equal(Shells(), want) {
		t.Errorf("Shells() = %q, want %q", Shells(), want)
	}
	for _, shell := range Shells() {
		script, ok := Script(shell)
		if !ok || !strings.Contains(script, "pyplug completion "+shell) || !strings.Contains(script, "__complete") {
			t.Errorf("Script(%q) = %.40q, %v: it does not say how to load it, or does not call pyplug", shell, script, ok)
		}
	}
	if script, ok := Script("tcsh"); ok || script != "" {
		t.Errorf("Script(%q) = %q, %v, want none", "tcsh", script, ok)
	}
}

// TestSyntax parses each script with its shell, if the shell is installed.
func TestSyntax(t *testing.T) {
	for _, shell := range []string{"bash", "fish", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			output, err := exec.Command(find(t, shell), "-n", names[shell]).CombinedOutput()
			if err != nil || len(output) > 0 {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
}

// fake replaces pyplug: it logs its arguments and prints a configured answer.
const fake = `#!/bin/sh
printf '%s\n' "$@" >"$FAKE_LOG"
printf '%s\n' "$FAKE_ANSWER"
exit "$FAKE_EXIT"
`

// drive completes a command line as bash does when the user presses TAB.
const drive = `
source "$1"
COMP_LINE=$2 COMP_POINT=$3
shift 3
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_pyplug
((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"
exit 0
`

func TestBash(t *testing.T) {
	bash := find(t, "bash")
	script, err := filepath.Abs(names["bash"])
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		line   string   // up to the cursor
		after  string   // the text after the cursor
		words  []string // the line up to the cursor, as bash splits it
		answer []string
		exit   string
		asked  []string // the words that pyplug received
		want   []string
	}{{
		name: "command", line: "pyplug ca", words: []string{"pyplug", "ca"},
		answer: []string{"call\tcall a background plugin", "check\tevery stage"},
		asked:  []string{"ca"}, want: []string{"call"},
	}, {
		name: "empty word", line: "pyplug stop ", words: []string{"pyplug", "stop", ""},
		answer: []string{"resize", "thumbs\ttwo"},
		asked:  []string{"stop", ""}, want: []string{"resize", "thumbs"},
	}, {
		name: "nothing", line: "pyplug stop x", words: []string{"pyplug", "stop", "x"},
		answer: []string{""}, asked: []string{"stop", "x"},
	}, {
		name: "files", line: "pyplug call gr", words: []string{"pyplug", "call", "gr"},
		answer: []string{"greeter\trunning", ":files"},
		asked:  []string{"call", "gr"}, want: []string{"greeter", "great.py", `green\ day.py`},
	}, {
		name: "Python files", line: "pyplug run o", words: []string{"pyplug", "run", "o"},
		answer: []string{":files\t.py"},
		asked:  []string{"run", "o"}, want: []string{"owl/", "over.py"},
	}, {
		name: "no file of the kind", line: "pyplug run oth", words: []string{"pyplug", "run", "oth"},
		answer: []string{":files\t.py"},
		asked:  []string{"run", "oth"}, want: []string{"other.txt"},
	}, {
		name: "old binary", line: "pyplug run great", words: []string{"pyplug", "run", "great"},
		answer: []string{"unknown command"}, exit: "2",
		asked: []string{"run", "great"}, want: []string{"great.py"},
	}, {
		name: "flag with =", line: "pyplug run --transport=g", words: []string{"pyplug", "run", "--transport", "=", "g"},
		answer: []string{"--transport=grpc"},
		asked:  []string{"run", "--transport=g"}, want: []string{"grpc"},
	}, {
		name: "nothing after =", line: "pyplug run --transport=", words: []string{"pyplug", "run", "--transport", "="},
		answer: []string{"--transport=grpc", "--transport=pipe"},
		asked:  []string{"run", "--transport="}, want: []string{"grpc", "pipe"},
	}, {
		name: "JSON argument", line: "pyplug call r f flag:=t", words: []string{"pyplug", "call", "r", "f", "flag", ":=", "t"},
		answer: []string{"flag:=true"},
		asked:  []string{"call", "r", "f", "flag:=t"}, want: []string{"true"},
	}, {
		name: "file argument", line: "pyplug call r f data@=gre", words: []string{"pyplug", "call", "r", "f", "data", "@=", "gre"},
		answer: []string{":files"},
		asked:  []string{"call", "r", "f", "data@=gre"}, want: []string{"great.py", `green\ day.py`},
	}, {
		name: "earlier = and :", line: "pyplug --name=a b:c d", words: []string{"pyplug", "--name", "=", "a", "b", ":", "c", "d"},
		answer: []string{"done"},
		asked:  []string{"--name=a", "b:c", "d"}, want: []string{"done"},
	}, {
		name: "quotes", line: `pyplug hooks 'green day.py' gre\ x`, words: []string{"pyplug", "hooks", "'green day.py'", `gre\ x`},
		answer: []string{"gre xy"},
		asked:  []string{"hooks", "green day.py", "gre x"}, want: []string{`gre\ xy`},
	}, {
		name: "home", line: "pyplug hooks ~/a.py gr", words: []string{"pyplug", "hooks", "~/a.py", "gr"},
		answer: []string{"greet"},
		asked:  []string{"hooks", "HOME/a.py", "gr"}, want: []string{"greet"},
	}, {
		name: "cursor inside a word", line: "pyplug ca", after: "ll x", words: []string{"pyplug", "call"},
		answer: []string{"call"},
		asked:  []string{"ca"}, want: []string{"call"},
	}, {
		name: "double dash", line: "pyplug run p.py h -- -x", words: []string{"pyplug", "run", "p.py", "h", "--", "-x"},
		answer: []string{""}, asked: []string{"run", "p.py", "h", "--", "-x"},
	}, {
		name: "no expansion", line: "pyplug run *", words: []string{"pyplug", "run", "*"},
		answer: []string{"* a", "$(x)"}, asked: []string{"run", "*"}, want: []string{`*\ a`},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := prepared(t)
			log := filepath.Join(dir, "log")
			if tt.exit == "" {
				tt.exit = "0"
			}
			args := []string{"--norc", "--noprofile", "-c", drive, "bash", script, tt.line + tt.after, strconv.Itoa(len(tt.line))}
			cmd := exec.Command(bash, append(args, tt.words...)...)
			cmd.Dir = filepath.Join(dir, "work")
			cmd.Env = append(os.Environ(),
				"PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
				"HOME=HOME", "FAKE_LOG="+log, "FAKE_EXIT="+tt.exit, "FAKE_ANSWER="+strings.Join(tt.answer, "\n"))
			output, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			if got := lines(string(output)); !slices.Equal(got, tt.want) {
				t.Errorf("COMPREPLY = %q, want %q", got, tt.want)
			}
			asked, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(string(asked)); !slices.Equal(got, append([]string{"__complete"}, tt.asked...)) {
				t.Errorf("pyplug received %q, want %q after __complete", got, tt.asked)
			}
		})
	}
}

// prepared returns a directory with the fake pyplug in bin, and files in work.
func prepared(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bin", "pyplug"), fake)
	for _, name := range []string{"great.py", "green day.py", "other.txt", "over.py", "owl/x.txt"} {
		write(t, filepath.Join(dir, "work", name), "")
	}
	return dir
}

// driveZsh completes the last word as zsh does, but its functions print the candidates.
const driveZsh = `
compdef() { : }
compset() { return 1 }
_files() { print -r -- files "$@" }
compadd() { print -r -- "$@[-1]" "$shown" }
typeset -A compstate
COLUMNS=40
source $1
shift
words=("$@") CURRENT=$# PREFIX=$@[-1]
_pyplug
exit 0
`

// TestOtherShells checks that zsh and fish offer the candidates of the fake pyplug.
func TestOtherShells(t *testing.T) {
	for _, c := range []struct{ name, answer, zsh, fish string }{
		{"candidates", "greet\tGreet: somebody.\nadd\n--raw=", "greet greet   -- Greet: somebody.|add add|--raw= --raw=", "greet\tGreet: somebody.|add|--raw="},
		{"files", ":files", "files", "over.py|owl/|other.txt"},
		{"Python files", ":files\t.py", "files -g *.py", "over.py|owl/"},
		{"a kind that is not there", ":files\t.nosuch", "files -g *.nosuch", "owl/"},
	} {
		for shell, want := range map[string]string{"zsh": c.zsh, "fish": c.fish} {
			t.Run(c.name+" in "+shell, func(t *testing.T) {
				path := find(t, shell)
				script, err := filepath.Abs(names[shell])
				if err != nil {
					t.Fatal(err)
				}
				dir := prepared(t)
				args := []string{"-f", "-c", driveZsh, "zsh", script, "pyplug", "run", "o"}
				if shell == "fish" {
					args = []string{"--no-config", "-c", "source $argv[1]; complete -C 'pyplug run o'", script}
					if c.name == "candidates" { // fish drops candidates that do not begin with the word
						args[2] = "source $argv[1]; complete -C 'pyplug run '"
					}
				}
				cmd := exec.Command(path, args...)
				cmd.Dir = filepath.Join(dir, "work")
				cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
					"HOME="+dir, "FAKE_LOG="+filepath.Join(dir, "log"), "FAKE_EXIT=0", "FAKE_ANSWER="+c.answer)
				output, err := cmd.CombinedOutput()
				got, wanted := lines(string(output)), strings.Split(want, "|")
				slices.Sort(got)
				slices.Sort(wanted)
				if err != nil || !slices.Equal(got, wanted) {
					t.Errorf("got %q, %v, want %q", got, err, wanted)
				}
			})
		}
	}
}

// find returns the path of a program, or skips the test if it is not installed.
func find(t *testing.T, shell string) string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("no %s on PATH", shell)
	}
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
