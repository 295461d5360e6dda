package manifest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// readText reads a pyplug.toml with that text.
func readText(text string) (m Manifest, err error) {
	var f found
	if err := f.readTOML(Manifest{File: "/p/pyplug.toml", Form: TOML, Dir: "/p", document: document{text: text}}); err != nil {
		return m, err
	}
	m = f.manifests[0]
	m.document = document{}
	return m, nil
}

func TestManifest(t *testing.T) {
	got, err := readText(`
id = "greeter"
entry = "greeter.py"
transport = "pipe"
python = ".venv"
requires-python = ">=3.11"
cookie = "K=V"
protocol-versions = [5, 6]
mtls = false
env = { A = "1", "b.c" = "" }
workers = 2
concurrency = 16
preload = "off"
probe = "alive"
args = ["serve", "--verbose"]

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
calls = 1000
age = "1h"

[[bootstrap]]
hook = "login"
args = { user = "ü<b>", n = 3, list = [1, 2.5, true], when = 2020-01-01 }

[[bootstrap]]
hook = "warm"
args = [1, "x"]

[[shutdown]]
hook = "bye"

[mcp]
read-only = ["get_*"]
destructive = []
output-schema = ["*"]
`)
	check(t, err)
	want := Manifest{File: "/p/pyplug.toml", Form: TOML, Dir: "/p", Settings: settings.Settings{
		ID: "greeter", Entry: "greeter.py", Transport: "pipe", Python: ".venv", RequiresPython: ">=3.11", Cookie: "K=V",
		ProtocolVersions: []int{5, 6}, MTLS: settings.Off, Env: []string{"A=1", "b.c="}, Workers: 2, Concurrency: 16, Preload: "off",
		Probe: "alive", Args: []string{"serve", "--verbose"},
		Timeouts: settings.Timeouts{Start: 2 * time.Minute, Call: settings.Forever, Stop: 1500 * time.Millisecond, Probe: 500 * time.Millisecond},
		Restart: settings.Restart{Policy: "on-failure", Max: settings.NoLimit, Backoff: time.Second, BackoffMax: time.Minute,
			HealthyAfter: 10 * time.Second},
		Limits: settings.Limits{Memory: 512 << 20, Calls: 1000, Age: time.Hour},
		Bootstrap: []hook.Call{
			{Hook: "login", Args: hook.Args{JSON: json.RawMessage(`{"list":[1,2.5,true],"n":3,"user":"ü<b>","when":"2020-01-01"}`)}},
			{Hook: "warm", Args: hook.Args{JSON: json.RawMessage(`[1,"x"]`)}},
		},
		Shutdown: []hook.Call{{Hook: "bye"}},
		MCP:      settings.MCP{ReadOnly: []string{"get_*"}, Destructive: []string{}, OutputSchema: []string{"*"}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestZero checks that an explicit 0 differs from a missing key.
func TestZero(t *testing.T) {
	m, err := readText("timeouts.stop = 0\nrestart.backoff = 0\nrestart.max = 0")
	check(t, err)
	if m.Timeouts != (settings.Timeouts{Stop: settings.Forever}) || m.Restart != (settings.Restart{Backoff: settings.AtOnce, Max: settings.NoLimit}) {
		t.Errorf("got %+v and %+v", m.Timeouts, m.Restart)
	}
}

func TestManifestErrors(t *testing.T) {
	for _, c := range []struct{ text, want, suggest string }{
		{"cookie-key = 'A'\ncookie-value = 'b'", `/p/pyplug.toml:1:1: unknown key "cookie-key"`, `cookie = "KEY=VALUE"`},
		{"tmeouts = 1", `/p/pyplug.toml:1:1: unknown key "tmeouts"`, "timeouts"},
		{"id = 'x'\n[timeouts]\nstrat = 1", `/p/pyplug.toml:3:1: unknown key "timeouts.strat"`, "start"},
		{"timeouts.strat = 1", `/p/pyplug.toml:1:10: unknown key "timeouts.strat"`, "start"},
		{"timeouts = { strat = 1 }", `/p/pyplug.toml:1:1: unknown key "timeouts.strat"`, "start"},
		{"args = 'serve'", `/p/pyplug.toml:1:1: args is "serve", expected an array`, ""},
		{"args = ['serve', 3]", `/p/pyplug.toml:1:1: args[1] is 3, expected a string`, ""},
		{"host = 'terrafrom'", `/p/pyplug.toml:1:1: host is "terrafrom", expected mattermost, nomad, terraform or vault`, "terraform"},
		{"[timeouts]\nstart = '2x'", `/p/pyplug.toml:2:1: timeouts.start is "2x", expected a duration such as 30s, 2m or a number of seconds`, ""},
		{"[timeouts]\nstart = '2 minutes'", `/p/pyplug.toml:2:1: timeouts.start is "2 minutes", expected a duration such as 30s, 2m or a number of seconds`, ""},
		{"[limits]\nage = '1 day'", `/p/pyplug.toml:2:1: limits.age is "1 day", expected a duration such as 30s, 2m or a number of seconds`, ""},
		{"[timeouts]\ncall = -1", `/p/pyplug.toml:2:1: timeouts.call is -1, expected a duration such as 30s, 2m or a number of seconds`, ""},
		{"[timeouts]\ncall = 1e300", `/p/pyplug.toml:2:1: timeouts.call is 1e+300, expected a duration such as 30s, 2m or a number of seconds`, ""},
		{"[timeouts]\ncall = nan", `/p/pyplug.toml:2:1: timeouts.call is NaN, expected a duration such as 30s, 2m or a number of seconds`, ""},
		{"[[timeouts]]\nstart = 1", `/p/pyplug.toml:1:3: timeouts is an array, expected a table`, ""},
		{"timeouts = 3", `/p/pyplug.toml:1:1: timeouts is 3, expected a table`, ""},
		{"[limits]\nmemory = 'lots'", `/p/pyplug.toml:2:1: limits.memory is "lots", expected a size such as 512MB, at least 1MB, 0 for no limit`, ""},
		{"[limits]\nmemory = 512", `/p/pyplug.toml:2:1: limits.memory is 512, expected a size such as 512MB, at least 1MB, 0 for no limit`, ""},
		{"[limits]\nmemory = '1023K'", `/p/pyplug.toml:2:1: limits.memory is "1023K", expected a size such as 512MB, at least 1MB, 0 for no limit`, ""},
		{"[limits]\nmemory = '99999999T'", `/p/pyplug.toml:2:1: limits.memory is "99999999T", expected a size such as 512MB, at least 1MB, 0 for no limit`, ""},
		{"workers = 0", `/p/pyplug.toml:1:1: workers is 0, expected a number from 1 to 1024, or auto`, ""},
		{"transport = 'gprc'", `/p/pyplug.toml:1:1: transport is "gprc", expected pipe or grpc`, "grpc"},
		{"preload = true", `/p/pyplug.toml:1:1: preload is true, expected off, auto or force`, ""},
		{"mtls = 'yes'", `/p/pyplug.toml:1:1: mtls is "yes", expected true or false`, ""},
		{"id = 5", `/p/pyplug.toml:1:1: id is 5, expected a string`, ""},
		{"id = ''", `/p/pyplug.toml:1:1: id is empty, expected a name`, ""},
		{"workers = 1\nrequires-python = 'junk'", `/p/pyplug.toml:2:1: requires-python is "junk", expected a version specifier such as ">=3.11"`, ""},
		{"requires-python = 3.11", `/p/pyplug.toml:1:1: requires-python is 3.11, expected a string`, ""},
		{"requires-python = '3.11'", `/p/pyplug.toml:1:1: requires-python is "3.11", expected a version specifier such as ">=3.11"`, ">=3.11"},
		{"requires-python = '=>3.11'", `/p/pyplug.toml:1:1: requires-python is "=>3.11", expected a version specifier such as ">=3.11"`, ""},
		{"requires-python = '^3.9.1'", `/p/pyplug.toml:1:1: requires-python is "^3.9.1", expected a version specifier such as ">=3.11"`, ""},
		{"requires-python = '>=3.9, 3.13'", `/p/pyplug.toml:1:1: requires-python is "3.13", expected a version specifier such as ">=3.11"`, ">=3.13"},
		{"protocol-versions = [1, 'x']", `/p/pyplug.toml:1:1: protocol-versions is [1 x], expected numbers separated by commas`, ""},
		{"[env]\nPORT = 8080", `/p/pyplug.toml:2:1: env.PORT is 8080, expected a string`, ""},
		{"[[bootstrap]]\nhook = 'a'\n[[bootstrap]]\nhoook = 'b'", `/p/pyplug.toml:4:1: unknown key "bootstrap[1].hoook"`, "hook"},
		{"[[bootstrap]]\nhook = 'a'\n[[bootstrap]]\nargs = []", `/p/pyplug.toml:3:3: bootstrap[1].hook is missing, expected the name of a hook`, ""},
		{"[[bootstrap]]\nhook = 'a'\nargs = [nan]", `/p/pyplug.toml:3:1: bootstrap[0].args has a number that JSON cannot represent`, ""},
		{"[[bootstrap]]\nhook = 'a'\nargs = 'x'", `/p/pyplug.toml:3:1: bootstrap[0].args is "x", expected an array (positions) or a table (names)`, ""},
		{"bootstrap = 'a'", `/p/pyplug.toml:1:1: bootstrap is "a", expected an array`, ""},
		{"probe = '''\nworkers = 'no'\n'''\nworkers = 'no'", `/p/pyplug.toml:4:1: workers is "no", expected a number from 1 to 1024, or auto`, ""},
		{"id = = 1", `/p/pyplug.toml:1:6: unexpected character U+003D '=' at start of value`, ""},
		{"id = 'a'\nid = 'b'", `/p/pyplug.toml:2:1: key id is already defined`, ""},
	} {
		_, err := readText(c.text)
		var e *hook.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: got %v", c.text, err)
			continue
		}
		if e.Error() != c.want || c.suggest != "*" && !reflect.DeepEqual(e.Hints, schema.DidYouMean(c.suggest)) {
			t.Errorf("%q:\ngot  %s (%s)\nwant %s (%s)", c.text, e, e.Hints, c.want, c.suggest)
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
		if m := (Manifest{document: document{text: text}}); len(text) < 1<<16 {
			if _, err := m.parse(); err == nil {
				locateTOML(text, []string{"bootstrap", "[0]", "hook"})
			}
		}
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
		if _, err := readDirectory(dir); err != nil {
			_ = err.Error()
		}
		locateJSON(text, []string{"server", "executable"})
	})
}
