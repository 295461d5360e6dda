//go:build linux

package commands_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/docs"
	"github.com/pyplug/pyplug/runner/check"
)

// zoo are functions files of testdata/plugins with a fault, or with something that check could
// mistake for a fault. Their findings are "STAGE VERDICT ID".
var zoo = []struct {
	plugin string
	words  string // flags, and environment variables
	code   int
	want   []string
}{
	{"all_missing.py", "", 0, nil},
	{"async_health.py", "", 0, nil},
	{"async_hooks.py", "", 0, nil},
	{"atexit_marker.py", "", 0, nil},
	{"bad_manifest", "", 2, []string{"plugin failure plugin-invalid"}},
	{"broken_manifest", "", 2, []string{"plugin failure plugin-invalid"}},
	{"catch_term.py", "", 0, nil},
	{"close_fds.py", "", 0, nil},
	{"dataclass_future.py", "", 0, nil},
	{"exit_soon.py", "--skip launch", 0, nil}, // it ends at a random moment
	{"forks.py", "", 0, nil},
	{"greeter.py", "", 0, nil},
	{"hang_atexit.py", "--stop-timeout 0.2", 0, []string{"stop warning stop-killed"}},
	{"hang_import.py", "--start-timeout 0.5", 5, []string{"launch failure start-failed"}},
	{"health_of.py", "", 0, nil},
	{"ignore_term.py", "", 0, nil},
	{"import_error.py", "", 5, []string{"launch failure import-missing"}},
	{"import_exit.py", "", 5, []string{"launch failure start-failed"}},
	{"import_serves.py", "LEAVE=1", 5, []string{"launch failure start-failed", "launch warning handshake-imported"}},
	{"import_noise.py", "", 0, nil}, // a functions file may print anything
	{"import_raises.py", "", 5, []string{"launch failure start-failed"}},
	{"import_segfault.py", "", 5, []string{"launch failure start-failed"}},
	{"import_sys_exit.py", "", 5, []string{"launch failure start-failed"}},
	{"inside.py", "", 0, nil},
	{"latin1.py", "", 0, nil},
	{"leave_child.py", "--call leave", 0, []string{"stop warning left-behind"}},
	{"leave_thread.py", "--call start --stop-timeout 0.2", 0, []string{"stop warning stop-killed"}},
	{"manifest", "", 0, nil},
	{"missing_entry", "", 2, []string{"plugin failure plugin-invalid"}},
	{"no_functions.py", "", 0, []string{"hooks warning no-hooks"}},
	{"no_health.py", "", 0, nil},
	{"outside_entry", "", 2, []string{"plugin failure plugin-invalid"}},
	{"pkg", "", 0, nil},
	{"python2.py", "", 5, []string{"source failure syntax-error"}},
	{"python2.py", "--skip source", 5, []string{"launch failure start-failed"}},
	{"raises.py", "", 0, nil},
	{"reads_stdin.py", "", 0, nil},
	{"script_metadata.py", "PYPLUG_PYTHON=", 3, []string{"interpreter failure python-missing"}},
	{"self_import.py", "", 0, nil},
	{"shadows/hooks.py", "", 0, nil},
	{"slow_exit.py", "", 0, nil},
	{"slow_import.py", "SLOW_IMPORT=0.1", 0, nil},
	{"streams.py", "", 0, nil},
	{"syntax_error.py", "", 5, []string{"source failure syntax-error"}},
	{"two_manifests", "", 0, nil},
	{"two_manifests/first.py", "", 0, nil},
	{"unhealthy.py", "", 7, []string{"health failure health-not-serving"}},
	{"unhealthy.py", "UNHEALTHY=false", 7, []string{"health failure health-not-serving"}},
	{"unhealthy.py", "UNHEALTHY=dict", 7, []string{"health failure health-not-serving"}},
	{"unhealthy.py", "UNHEALTHY=raise", 7, []string{"health failure health-not-serving"}},
	{"unhealthy.py", "UNHEALTHY=slow", 7, []string{"health failure health-silent"}},
	{"unhealthy.py", "UNHEALTHY=exit", 8, []string{"health failure ended-by-itself"}},
	{"unhealthy.py", "UNHEALTHY=dict_ok", 0, nil},
	{"values.py", "", 0, nil},
}

// TestCheckHandshakeImported checks that a gRPC plugin that was imported is reported once. The
// stage depends on when its output is read.
func TestCheckHandshakeImported(t *testing.T) {
	t.Parallel()
	c := checkPlugin(t, []string{"PYTHONDONTWRITEBYTECODE=1"}, "testdata/plugins/import_serves.py")
	if got := c.serious(); len(got) != 1 || got[0] != "launch warning handshake-imported" && got[0] != "stop warning handshake-imported" {
		t.Errorf("found %q", got)
	}
}

// TestCheckZoo checks the plugins in zoo.
func TestCheckZoo(t *testing.T) {
	t.Parallel()
	temp := leftEmpty(t)
	for _, row := range zoo {
		t.Run(strings.TrimSpace(row.plugin+" "+row.words), func(t *testing.T) {
			t.Parallel()
			env := []string{"GITHUB_ACTIONS=", "PYTHONDONTWRITEBYTECODE=1", "TMPDIR=" + temp}
			var words []string
			for _, word := range strings.Fields(row.words) {
				if strings.Contains(word, "=") {
					env = append(env, word)
				} else {
					words = append(words, word)
				}
			}
			c := checkPlugin(t, env, append(words, filepath.Join("testdata/plugins", row.plugin))...)
			if got := c.told("note", "warning", "failure"); !slices.Equal(got, row.want) {
				t.Errorf("found %q, want %q", got, row.want)
			}
			if c.ExitCode != row.code {
				t.Errorf("exit code %d, want %d", c.ExitCode, row.code)
			}
			c.skips(t, words)
			c.mended(t)
			for _, st := range c.Stages {
				if t.Failed() {
					t.Logf("%-8s %s: %s %+v", st.Status, st.Name, st.Message, st.Findings)
				}
			}
		})
	}
}

// skips checks that the report has all stages in their order, and that a stage is skipped, with a
// reason, if a functions file does not have it, if it was not requested, or if it comes after a
// stage that must succeed.
func (c checked) skips(t *testing.T, flags []string) {
	t.Helper()
	never := append([]string{"connect", "cookie", "host", "again"}, flags...) // including the stage of --skip
	over, ended := false, false
	var names []string
	for _, st := range c.Stages {
		names = append(names, st.Name)
		skipped := st.Status == "skipped"
		if want := over || ended && st.Name != "stop" || slices.Contains(never, st.Name); skipped != want {
			t.Errorf("%s is %q, want it skipped: %v", st.Name, st.Status, want)
		}
		if skipped && (st.Message == "" || len(st.Findings) > 0) {
			t.Errorf("%s is skipped without a reason, or with findings: %+v", st.Name, st)
		}
		switch st.Name {
		case "plugin", "interpreter", "source":
			over = over || st.Status == "failure"
		case "launch":
			over = over || st.Status == "failure" || skipped
		case "health":
			ended = strings.HasPrefix(st.Message, "the plugin exited")
		}
	}
	if !slices.Equal(names, unasked()) {
		t.Errorf("the stages are %q, want %q", names, unasked())
	}
}

// unasked lists the stages of a check without --mcp.
func unasked() []string {
	return slices.DeleteFunc(check.Stages(), func(name string) bool { return name == "mcp" })
}

// checkReport is the documented JSON of check.
type checkReport struct {
	Schema    int
	Plugin    string
	Transport string
	Verdict   string
	ExitCode  int     `json:"exit_code"`
	TookMS    float64 `json:"took_ms"`
	Stages    []struct {
		Name, Status, Message, Fix string
		TookMS                     float64 `json:"took_ms"`
		Details                    map[string]any
		Findings                   []struct {
			ID, Status, Message, Fix, File string
			Line                           int
			Error                          json.RawMessage
		}
	}
	Error json.RawMessage
}

// TestCheckJSONLines checks that --json prints a documented line for each plugin, and nothing else,
// whatever the plugins print.
func TestCheckJSONLines(t *testing.T) {
	t.Parallel()
	noted := filepath.Join(written(t, map[string]string{"noted.py": "def work(when: 'Nowhere'): return 1\n"}), "noted.py")
	plugins := []string{"testdata/plugins/slow_import.py", "testdata/plugins/import_noise.py", "nosuch.py", "testdata/plugins/import_raises.py", noted}
	verdicts := []string{"ok", "ok", "failure", "failure", "note"}
	s := pyplug(t, []string{"GITHUB_ACTIONS="}, append([]string{"check", "--json", "-j", "3"}, plugins...)...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.ends(t, 2)
	lines := strings.Split(strings.TrimSuffix(s.out.String(), "\n"), "\n")
	if len(lines) != len(plugins) {
		t.Fatalf("%d lines, want %d", len(lines), len(plugins))
	}
	for i, line := range lines {
		var r checkReport
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if r.Schema != 1 || r.Plugin != plugins[i] || r.Verdict != verdicts[i] || len(r.Stages) != len(unasked()) || r.Error != nil {
			t.Errorf("got %+v, want %s of %s", r, verdicts[i], plugins[i])
		}
		worst, sum := "ok", 0.0
		for _, st := range r.Stages {
			sum += st.TookMS
			for _, f := range st.Findings {
				worst = f.Status
				if !slices.Contains(docs.Findings.Names(), f.ID) {
					t.Errorf("%s has the unknown finding %q", st.Name, f.ID)
				}
				if f.File != "" && !filepath.IsAbs(f.File) {
					t.Errorf("the file of %s is %q, want an absolute path", f.ID, f.File)
				}
			}
		}
		if worst != r.Verdict || sum > r.TookMS+1 {
			t.Errorf("%s: the worst finding is %q of %q, the stages took %v ms of %v", r.Plugin, worst, r.Verdict, sum, r.TookMS)
		}
	}
}

// TestCheckJUnit checks that the JUnit XML is complete whatever its file contained before, even if
// the check is interrupted.
func TestCheckJUnit(t *testing.T) {
	t.Parallel()
	report := filepath.Join(t.TempDir(), "report.xml")
	if err := os.WriteFile(report, bytes.Repeat([]byte("<old/>\n"), 10_000), 0o600); err != nil {
		t.Fatal(err)
	}
	s := pyplug(t, []string{"HANG_IMPORT_MARKER=MARKER", "GITHUB_ACTIONS="},
		"check", "--junit", report, "testdata/plugins/greeter.py", "testdata/plugins/import_error.py", "testdata/plugins/hang_import.py")
	s.start(t)
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.ends(t, 143)
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Failure *struct {
					Type string `xml:"type,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	decoder := xml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if _, err := decoder.Token(); err != nil {
		t.Errorf("%v", err) // expected the newline at the end
	}
	if _, err := decoder.Token(); err != io.EOF {
		t.Errorf("more follows: %v", err)
	}
	if got.Failures != 1 || got.Errors != 1 || len(got.Suites) != 3 {
		t.Fatalf("got %+v of %s", got, text)
	}
	if cases := got.Suites[1].Cases; len(cases) != 8 || cases[3].Failure == nil || cases[3].Failure.Type != "import-missing" {
		t.Errorf("got %+v", got.Suites[1])
	}
}
