package commands

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pyplug/pyplug/commands/cmdline"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

func TestWantWords(t *testing.T) {
	for _, c := range []struct{ form, words, want string }{
		{"", "", ""}, {"", "a", "unexpected argument: a"},
		{"PLUGIN", "", "PLUGIN is missing"}, {"PLUGIN", "a", ""}, {"PLUGIN", "-", "PLUGIN is empty"}, {"PLUGIN", "a b c", "unexpected argument: b"},
		{"PLUGIN [HOOK]", "", "PLUGIN is missing"}, {"PLUGIN [HOOK]", "a", ""}, {"PLUGIN [HOOK]", "a b", ""},
		{"PLUGIN [HOOK]", "a -", "HOOK is empty"}, {"PLUGIN [HOOK]", "a b c", "unexpected argument: c"},
		{"PLUGIN HOOK ...", "a", "HOOK is missing"}, {"PLUGIN HOOK ...", "a b", ""}, {"PLUGIN HOOK ...", "a b - d", ""},
		{"PLUGIN [HOOK] ...", "a", ""}, {"PLUGIN [HOOK] ...", "a - c", "HOOK is empty"},
		{"PLUGIN FILE...", "a", "FILE is missing"}, {"PLUGIN FILE...", "a b c", ""}, {"PLUGIN FILE...", "a b -", "FILE is empty"},
		{"[NAME...]", "", ""}, {"[NAME...]", "a b", ""}, {"[NAME...]", "a -", "NAME is empty"},
	} {
		words := strings.Fields(c.words)
		for i, word := range words {
			words[i] = strings.TrimPrefix(word, "-")
		}
		got := ""
		if err := cmdline.WantWords(words, c.form); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q of %q: got %q, want %q", c.words, c.form, got, c.want)
		}
	}
}

func TestReadLine(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    string
		names int
		want  string // flags and words joined by spaces, or the error
	}{
		{"a module", "-m json dumps 1", 2, "-- -m json dumps 1"},
		{"a module among flags", "--json -m json --timeout 5 dumps -m", 2, "--json=true --timeout=5 -- -m json dumps -m"},
		{"a module behind a plugin", "p.py -m json", 2, "unknown flag -m: run `pyplug run --help` to list the flags"},
		{"no module", "--json -m", 2, "-m needs a MODULE"},
		{"words alone", "p.py greet World", 2, "-- p.py greet World"},
		{"flags in front", "--json p.py greet", 2, "--json=true -- p.py greet"},
		{"flags between", "p.py --json --timeout 5 greet World", 2, "--json=true --timeout=5 -- p.py greet World"},
		{"flag with equals", "p.py --timeout=5 greet", 2, "--timeout=5 -- p.py greet"},
		{"flag given twice", "--timeout=5 --timeout 6 p.py greet", 2, "--timeout=6 -- p.py greet"},
		{"short flag", "-q p.py greet", 2, "--quiet=true -- p.py greet"},
		{"negative number is data", "p.py greet -5 -1.5", 2, "-- p.py greet -5 -1.5"},
		{"unknown flag after HOOK is data", "p.py greet --loud", 2, "-- p.py greet --loud"},
		{"lone dash is a word", "p.py greet -", 2, "-- p.py greet -"},
		{"double dash before HOOK", "p.py -- greet --json", 2, "-- p.py greet --json"},
		{"double dash after HOOK", "p.py greet -- --json -q", 2, "-- p.py greet -- --json -q"},
		{"double dash before PLUGIN", "-- p.py greet -- x", 2, "-- p.py greet -- x"},
		{"double dash among data", "p.py greet a -- --json --", 2, "-- p.py greet a -- --json --"},
		{"a flag after HOOK is data", "--raw=x -m json dumps -q --json --keep", 2, "unknown flag --raw: run `pyplug run --help` to list the flags"},
		{"flags after HOOK are data", "-m json dumps -q --json --timeout 5 --keep -h", 2, "-- -m json dumps -q --json --timeout 5 --keep -h"},
		{"value that looks like a flag", "--python --json p.py greet", 2, "--python=--json -- p.py greet"},
		{"all words", "p.py --json", allWords, "--json=true -- p.py"},
		{"nothing", "", 2, "--"},
		{"short flags together", "-qv p.py greet", 2, "--quiet=true --verbose=true -- p.py greet"},
		{"short flag with its value", "-j2 p.py greet", 2, "--jobs=2 -- p.py greet"},
		{"short flags with a value", "-qj2 p.py greet", 2, "--quiet=true --jobs=2 -- p.py greet"},
		{"short flag with its value apart", "-j 2 p.py greet", 2, "--jobs=2 -- p.py greet"},
		{"unknown among short flags", "-qx p.py greet", 2, "unknown flag -qx: run `pyplug run --help` to list the flags"},
		{"unknown flag with a value", "--no-such=3 p.py greet", 2, "unknown flag --no-such: run `pyplug run --help` to list the flags"},
		{"dashes alone", "--- p.py", 2, "unknown flag ---: run `pyplug run --help` to list the flags"},
		{"unknown flag", "--jsno p.py greet", 2, "unknown flag --jsno: did you mean --json?"},
		{"unknown flag without a neighbour", "--frobnicate p.py", 2, "unknown flag --frobnicate: run `pyplug run --help` to list the flags"},
		{"missing value", "p.py --timeout", 2, "--timeout needs a value"},
		{"wrong value", "-j 10 --timeout x p.py", 2, `--jobs is "10", expected a number from 1 to 9`},
		{"switch with a wrong value", "--json=maybe p.py", 2, `--json is "maybe", expected true or false`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var (
				python  string
				keep    bool
				output  outputOptions
				jobs    int
				timeout time.Duration
			)
			flags := append(output.flags(), cmdline.Name(&python, "python", ""), cmdline.Duration(&timeout, "timeout", ""),
				cmdline.Count(&jobs, 1, 9, "jobs", "").Alias("j"), cmdline.Switch(&keep, "keep", ""))
			line, err := cmdline.Read(&cli.Command{Name: "run", ArgsUsage: "PLUGIN HOOK", Flags: flags}, c.names, strings.Fields(c.in))
			text := strings.Join(slices.Concat(cmdline.Words(flags), []string{"--"}, line.Words), " ")
			if err != nil {
				text = err.Error()
				if hints := hook.AsError(err).Hints; len(hints) > 0 {
					text += ": " + hook.Word(hints[0])
				}
			}
			if text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

func TestReadLineKeepsWordsAsTheyAre(t *testing.T) {
	words := []string{"p.py", "greet", "", "a b", "x=1,2", "\xff", "=--json", "--json", "--", "-h", "--lines"}
	got, err := cmdline.Read(runCommand(&program{}).Command, 2, slices.Clone(words))
	if err != nil || !slices.Equal(got.Words, words) {
		t.Errorf("got %q, %v", got.Words, err)
	}
}

// FuzzData checks that no word after HOOK changes what pyplug itself does.
func FuzzData(f *testing.F) {
	f.Add("--json --keep -q --timeout 5 -- --lines -m x --help-all")
	f.Add("-h --help")
	f.Fuzz(func(t *testing.T, line string) {
		data := strings.Split(line, " ")
		for _, cmd := range []command{runCommand(&program{}), callCommand(&program{})} {
			got, err := cmdline.Read(cmd.Command, cmd.names, append([]string{"p.py", "greet"}, data...))
			if err != nil || !slices.Equal(got.Words[got.Names:], data) || len(cmdline.Words(cmd.Flags)) > 0 {
				t.Errorf("%s %q: got %q, %q, %v", cmd.Name, data, got.Words, cmdline.Words(cmd.Flags), err)
			}
		}
	})
}

// FuzzComplete checks that completion never panics, whatever the words.
func FuzzComplete(f *testing.F) {
	f.Add("run --python ")
	f.Add("run p.py greet --")
	f.Add("nosuch -- x")
	commands := commandList(&program{})
	f.Fuzz(func(t *testing.T, line string) {
		for _, candidate := range complete(commands, strings.Split(line, " ")) {
			if strings.ContainsAny(candidate, "\n\r") {
				t.Errorf("a candidate of two lines: %q", candidate)
			}
		}
	})
}

// TestCompleteFlags checks that every flag of every command is offered, and that values are offered
// only for a fixed set of words or as file names.
func TestCompleteFlags(t *testing.T) {
	prog := &program{}
	prog.commands = commandList(prog)
	for _, cmd := range prog.commands {
		if cmd.Hidden {
			continue
		}
		for _, flag := range cmd.Flags {
			name := "--" + flag.Names()[0]
			offered := complete(prog.commands, []string{cmd.Name, name})
			if !slices.ContainsFunc(offered, func(line string) bool { return strings.HasPrefix(line, name+"\t") }) {
				t.Errorf("%s %s: offered %q", cmd.Name, name, offered)
			}
			if cmdline.FlagOf(flag).IsSwitch {
				continue
			}
			for _, line := range complete(prog.commands, []string{cmd.Name, name, "no such value"}) {
				if !strings.HasPrefix(line, schema.AnyFile) {
					t.Errorf("%s %s: offered %q as a value", cmd.Name, name, line)
				}
			}
		}
	}
}

func TestComplete(t *testing.T) {
	commands := commandList(&program{})
	for _, c := range []struct{ line, want string }{
		{"ru", "run"},
		{"__", ""},
		{"run ", ":files"},
		{"run --log-format ", "text json"},
		{"run --log-format j", "json"},
		{"run p.py --ra", "--raw"},
		{"run p.py greet --ra", ""},
		{"run p.py greet ", ":files"},
		{"run p.py greet -- --ra", ":files"},
		{"run p.py greet --name ", ":files"},
		{"run -- ", ":files"},
		{"run --python ", ":files"},
		{"completion b", "bash"},
		{"help hea", "health"},
		{"python ", "why find list"},
		{"python why ", ":files"},
		{"python why a.py ", ""},
		{"nosuch ", ""},
		{"run --tr", "--transport"},
		{"run --transport ", "pipe grpc"},
		{"run --mtls", "--mtls"},
		{"run --proto", "--protocol-versions --proto --protoset"},
		{"run --proto a_pb2.py --protoset ", ":files"},
		{"serve --name ", ""},
		{"health --service ", ""},
		{"health -H ", ""},
		{"health --watch --w", "--watch"},
		{"run --transport=g", "--transport=grpc"},
		{"run --raw=", ""},
		{"run --proto=a", ":files"},
		{"help man", "manifest"},
		{"python ", "why find list"},
		{"python find ", ":files"},
		{"python find a.py ", ""},
		{"check a.py ", ":files"},
		{"run a.py f ", ":files"},
		{"run -m ", ""},
		{"p", "python"},
	} {
		var got []string
		for _, line := range complete(commands, strings.Split(c.line, " ")) {
			name, _, _ := strings.Cut(line, "\t")
			got = append(got, name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: got %q, want %q", c.line, got, c.want)
		}
	}
}
