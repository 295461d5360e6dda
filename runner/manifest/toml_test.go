package manifest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// readText reads a pyplug.toml of that text.
func readText(text string) (candidate, error) {
	doc := document{file: "/p/pyplug.toml", text: text}
	values, err := doc.decode()
	if err != nil {
		return candidate{}, err
	}
	return doc.candidate(TOML, values)
}

func TestManifest(t *testing.T) {
	c, err := readText(`
id = "greeter"
entry = "greeter.py"
transport = "pipe"
python = ".venv"
requires-python = ">=3.11"
cookie-key = "K"
cookie-value = "V"
protocol-versions = [5, 6]
mtls = false
env = { A = "1", "b.c" = "" }
workers = 2
concurrency = 16
preload = "off"
probe = "alive"
error-field = "error.code"

[timeouts]
start = "2m"
call = 0
stop = 1.5
probe = "500ms"

[restart]
policy = "on-failure"
max = 0
backoff = "1s"
backoff-max = "60"
healthy-after = "10s"

[limits]
memory = "512MB"
cpu = "50%"
calls = 1000
age = "1h"

[[bootstrap]]
hook = "login"
args = { user = "ü<b>", n = 3, list = [1, 2.5, true] }

[[bootstrap]]
hook = "warm"
args = [1, "x"]

[[shutdown]]
hook = "bye"
`)
	check(t, err)
	d := func(s string) *time.Duration { v, _ := time.ParseDuration(s); return &v }
	no, zero := false, 0
	want := Manifest{
		File: "/p/pyplug.toml", Form: TOML, Dir: "/p",
		ID: "greeter", Entry: "greeter.py", Transport: "pipe", Python: ".venv", RequiresPython: ">=3.11", CookieKey: "K", CookieValue: "V",
		ProtocolVersions: []int{5, 6}, MTLS: &no, Env: map[string]string{"A": "1", "b.c": ""}, Workers: 2, Concurrency: 16, Preload: "off",
		Probe: "alive", ErrorField: "error.code",
		Timeouts: Timeouts{Start: d("2m"), Call: d("0s"), Stop: d("1500ms"), Probe: d("500ms")},
		Restart:  Restart{Policy: "on-failure", Max: &zero, Backoff: d("1s"), BackoffMax: d("60s"), HealthyAfter: d("10s")},
		Limits:   Limits{Memory: 512 << 20, CPU: 0.5, Calls: 1000, Age: time.Hour},
		Bootstrap: []HookCall{
			{Hook: "login", Args: json.RawMessage(`{"list":[1,2.5,true],"n":3,"user":"ü<b>"}`)},
			{Hook: "warm", Args: json.RawMessage(`[1,"x"]`)},
		},
		Shutdown: []HookCall{{Hook: "bye"}},
	}
	if got := c.Manifest; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestManifestErrors(t *testing.T) {
	for _, c := range []struct{ text, want, suggest string }{
		{"tmeouts = 1", `/p/pyplug.toml:1: unknown key "tmeouts"`, "timeouts"},
		{"id = 'x'\n[timeouts]\nstrat = 1", `/p/pyplug.toml:3: unknown key "timeouts.strat"`, "start"},
		{"timeouts.strat = 1", `/p/pyplug.toml:1: unknown key "timeouts.strat"`, "start"},
		{"timeouts = { strat = 1 }", `/p/pyplug.toml:1: unknown key "timeouts.strat"`, "start"},
		{"[timeouts]\nstart = '2x'", `/p/pyplug.toml:2: timeouts.start is "2x", want a duration such as "30s", "2m" or a number of seconds`, ""},
		{"[timeouts]\nstart = '2 minutes'", `/p/pyplug.toml:2: timeouts.start is "2 minutes", want a duration such as "30s", "2m" or a number of seconds`, "2m"},
		{"[limits]\nage = '1 day'", `/p/pyplug.toml:2: limits.age is "1 day", want a duration such as "30s", "2m" or a number of seconds`, "24h"},
		{"[timeouts]\nstart = 0", `/p/pyplug.toml:2: timeouts.start is 0, want a duration above 0 and below a hundred years`, ""},
		{"[timeouts]\ncall = -1", `/p/pyplug.toml:2: timeouts.call is -1, want a duration above 0 and below a hundred years`, ""},
		{"[timeouts]\ncall = 1e300", `/p/pyplug.toml:2: timeouts.call is 1e+300, want a duration above 0 and below a hundred years`, ""},
		{"[timeouts]\ncall = nan", `/p/pyplug.toml:2: timeouts.call is NaN, want a duration such as "30s", "2m" or a number of seconds`, ""},
		{"timeouts = 3", `/p/pyplug.toml:1: timeouts is 3, want a table`, ""},
		{"[limits]\nmemory = 'lots'", `/p/pyplug.toml:2: limits.memory is "lots", want a size above 0 such as "512MB" or "2GB"`, ""},
		{"[limits]\nmemory = 0", `/p/pyplug.toml:2: limits.memory is 0, want a size above 0 such as "512MB" or "2GB"`, ""},
		{"[limits]\nmemory = 512", `/p/pyplug.toml:2: limits.memory is 512, want at least 1MB`, ""},
		{"[limits]\nmemory = '1023K'", `/p/pyplug.toml:2: limits.memory is "1023K", want at least 1MB`, ""},
		{"[limits]\nmemory = '99999999T'", `/p/pyplug.toml:2: limits.memory is "99999999T", want a size above 0 such as "512MB" or "2GB"`, ""},
		{"[limits]\ncpu = 'all'", `/p/pyplug.toml:2: limits.cpu is "all", want a number of cores above 0 such as 0.5, 2 or "50%"`, ""},
		{"workers = 0", `/p/pyplug.toml:1: workers is 0, want an integer from 1 to 1024`, ""},
		{"workers = '2'", `/p/pyplug.toml:1: workers is "2", want an integer from 1 to 1024`, ""},
		{"transport = 'gprc'", `/p/pyplug.toml:1: transport is "gprc", want "pipe" or "grpc"`, "grpc"},
		{"preload = true", `/p/pyplug.toml:1: preload is true, want "off", "auto" or "force"`, ""},
		{"mtls = 'yes'", `/p/pyplug.toml:1: mtls is "yes", want true or false`, ""},
		{"id = 5", `/p/pyplug.toml:1: id is 5, want a string`, `"5"`},
		{"id = ''", `/p/pyplug.toml:1: id is "", want a string that is not empty`, ""},
		{"id = '--- !'", `/p/pyplug.toml:1: id is "--- !", want a name with a letter or digit in it`, ""},
		{"workers = 1\nrequires-python = 'junk'", `/p/pyplug.toml:2: requires-python is "junk", want a version specifier such as ">=3.11"`, ""},
		{"requires-python = 3.11", `/p/pyplug.toml:1: requires-python is 3.11, want a string`, `"3.11"`},
		{"requires-python = '3.11'", `/p/pyplug.toml:1: requires-python is "3.11", want a version specifier such as ">=3.11"`, ">=3.11"},
		{"requires-python = '=>3.11'", `/p/pyplug.toml:1: requires-python is "=>3.11", want a version specifier such as ">=3.11"`, ">=3.11"},
		{"requires-python = '^3.9.1'", `/p/pyplug.toml:1: requires-python is "^3.9.1", want a version specifier such as ">=3.11"`, ">=3.9.1,<4"},
		{"requires-python = '>=3.9, 3.13'", `/p/pyplug.toml:1: requires-python is ">=3.9, 3.13", where "3.13" is none, want a version specifier such as ">=3.11"`, ""},
		{"protocol-versions = 1", `/p/pyplug.toml:1: protocol-versions is 1, want an array of integers such as [1]`, "[1]"},
		{"protocol-versions = [1, 'x']", `/p/pyplug.toml:1: protocol-versions[1] is "x", want an integer from 0 to 2147483647`, ""},
		{"[env]\nPORT = 8080", `/p/pyplug.toml:2: env.PORT is 8080, want a string`, `"8080"`},
		{"[[bootstrap]]\nhook = 'a'\n[[bootstrap]]\nhoook = 'b'", `/p/pyplug.toml:4: unknown key "bootstrap[1].hoook"`, "hook"},
		{"[[bootstrap]]\nhook = 'a'\n[[bootstrap]]\nargs = []", `/p/pyplug.toml:3: bootstrap[1].hook is absent, want the name of a hook`, ""},
		{"[[bootstrap]]\nhook = 'a'\n[bootstrap.args]\nwhen = 2020-01-01", `/p/pyplug.toml:4: bootstrap[0].args.when is a date, want a date in quotes, as JSON has it`, ""},
		{"[[bootstrap]]\nhook = 'a'\nargs = 'x'", `/p/pyplug.toml:3: bootstrap[0].args is "x", want an array (positions) or a table (names)`, ""},
		{"bootstrap = 'a'", `/p/pyplug.toml:1: bootstrap is "a", want an array of tables with hook and args`, ""},
		{"cookie-value = '''\nworkers = 'no'\n'''\nworkers = 'no'", `/p/pyplug.toml:4: workers is "no", want an integer from 1 to 1024`, ""},
		{"id = = 1", `/p/pyplug.toml:1:6: expected value but found '=' instead`, ""},
		{"id = 'a'\nid = 'b'", `/p/pyplug.toml:2:8: key 'id' has already been defined`, ""},
	} {
		_, err := readText(c.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: got %v", c.text, err)
			continue
		}
		if e.Error() != c.want || e.Suggest != c.suggest {
			t.Errorf("%q:\ngot  %s (%s)\nwant %s (%s)", c.text, e, e.Suggest, c.want, c.suggest)
		}
		if e.Line > 0 && e.Text == "" {
			t.Errorf("%q: no text", c.text)
		}
	}
}

func FuzzTOML(f *testing.F) {
	f.Add("[timeouts]\nstart = '2s'\n[[bootstrap]]\nhook = 'a'\nargs = {a = 1}")
	f.Add("limits = { memory = '1G' }\n[env]\n'a.b' = ''")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := readText(text); err != nil {
			_ = err.Error()
		}
		line(text, []string{"bootstrap", "[0]", "hook"})
	})
}

func FuzzPluginJSON(f *testing.F) {
	f.Add(`{"id": "x", "server": {"executable": "plugin.py", "runtime": "python"}}`)
	f.Add(`{"server": {"executables": {"linux-amd64": "../x"}}, "props": []}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, "plugin.json"), []byte(text), 0o644); err != nil {
			t.Skip(err)
		}
		var found beside
		if err := readPluginJSON(dir, &found); err != nil {
			_ = err.Error()
		}
		jsonLine(text, []string{"server", "executable"})
	})
}
