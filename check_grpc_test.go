//go:build linux

package main_test

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// checked is what check --json says of a plugin.
type checked struct {
	Transport string
	Verdict   string
	ExitCode  int `json:"exit_code"`
	Stages    []checkedStage
}

type checkedStage struct {
	Name, Status, Message string
	Details               map[string]any
	Findings              []checkedFinding
}

type checkedFinding struct{ ID, Status, Message, Fix string }

// stage is the stage of a name; the zero one when it did not come to it.
func (c checked) stage(name string) checkedStage {
	for _, st := range c.Stages {
		if st.Name == name {
			return st
		}
	}
	return checkedStage{}
}

// serious are the warnings and failures, as "STAGE VERDICT ID", in their order.
func (c checked) serious() []string {
	return c.told("warning", "failure")
}

// told are the findings of some verdicts.
func (c checked) told(verdicts ...string) []string {
	found := []string{}
	for _, st := range c.Stages {
		for _, f := range st.Findings {
			if slices.Contains(verdicts, f.Status) {
				found = append(found, st.Name+" "+f.Status+" "+f.ID)
			}
		}
	}
	return found
}

// checkPlugin runs check --json to its end. No process of it is left after the test.
func checkPlugin(t *testing.T, env []string, words ...string) checked {
	t.Helper()
	// Actions has its own files, which are no matter of a test.
	s := pyplug(t, append([]string{"GITHUB_ACTIONS="}, env...), append([]string{"check", "--json"}, words...)...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	_ = s.Wait() // its code is looked at
	var c checked
	if err := json.Unmarshal(s.out.Bytes(), &c); err != nil {
		t.Fatalf("%v: %s%s", err, &s.out, &s.errs)
	}
	if code := s.ProcessState.ExitCode(); code != c.ExitCode {
		t.Errorf("exit code %d, the report has %d", code, c.ExitCode)
	}
	return c
}

// holds wants just these warnings and failures, and of the report that it is
// whole: what needs a stage that failed was skipped, and each finding says what to
// do where that can be known.
func (c checked) holds(t *testing.T, code int, serious ...string) {
	t.Helper()
	if got := c.serious(); !slices.Equal(got, serious) {
		t.Errorf("found %q, want %q", got, serious)
	}
	if c.ExitCode != code {
		t.Errorf("exit code %d, want %d", c.ExitCode, code)
	}
	failed := ""
	for _, st := range c.Stages {
		if failed != "" && st.Name != "stop" && st.Status != "skipped" {
			t.Errorf("%s is %q after %s has failed, want it skipped", st.Name, st.Status, failed)
		}
		if slices.Contains(starts, st.Name) && st.Status == "failure" {
			failed = st.Name
		}
		if st.Message == "" {
			t.Errorf("%s says nothing", st.Name)
		}
		for _, f := range st.Findings {
			if f.ID == "" || f.Message == "" || f.Fix == "" && f.Status != "note" && !slices.Contains(unmended, f.ID) {
				t.Errorf("%s has a finding without a name, a message or a fix: %+v", st.Name, f)
			}
		}
	}
	if n := len(c.Stages); n != 13 {
		t.Errorf("%d stages, want 13", n)
	}
	if t.Failed() {
		for _, st := range c.Stages {
			t.Logf("%-8s %s: %s %+v", st.Status, st.Name, st.Message, st.Findings)
		}
	}
}

// unmended are the findings whose cause is the plugin's own affair, so that nobody
// knows what to do.
var unmended = []string{"start-failed", "health-not-serving", "call-failed", "host-refused"}

// starts are the stages without which there is nothing more to see.
var starts = []string{"launch", "handshake", "connect"}

const spoken = "print(\"1|1|tcp|$ADDRESS|grpc\")\nhang()"

// fakes are plugins of the fake Python, see grpc_fake_test.go. They are no worse
// than their name, as far as check comes: with the host left out, which would
// take as long as it may.
var fakes = []struct {
	name, script string
	flags        string
	code         int
	want         []string
}{
	{"silent", "hang()", "--start-timeout 0.5", 6, []string{"handshake failure handshake-missing"}},
	{"text alone", "print(\"loading\")\nhang()", "--start-timeout 0.5", 6, []string{"handshake failure handshake-missing"}},
	{"without a newline", "write(\"1|1|tcp|127.0.0.1:4410|grpc\")\nhang()", "--start-timeout 0.5", 6, []string{"handshake failure handshake-missing"}},
	{"a flood", "flood()", "-q --start-timeout 1", 6, []string{"handshake failure handshake-missing"}},

	{"two fields", "print(\"1|invalid\")\nhang()", "", 6, []string{"handshake failure handshake-malformed"}},
	{"four fields", "print(\"1|1|tcp|127.0.0.1:4410\")\nhang()", "", 6, []string{"handshake failure handshake-malformed"}},
	{"netrpc", "print(\"1|1|tcp|127.0.0.1:4410|netrpc\")\nhang()", "", 6, []string{"handshake failure handshake-malformed"}},
	{"core 2", "print(\"2|1|tcp|127.0.0.1:4410|grpc\")\nhang()", "", 6, []string{"handshake failure handshake-malformed"}},
	{"version 9", "print(\"1|9|tcp|127.0.0.1:4410|grpc\")\nhang()", "", 6, []string{"handshake failure handshake-malformed"}},
	{"udp", "print(\"1|1|udp|127.0.0.1:4410|grpc\")\nhang()", "", 6, []string{"handshake failure handshake-malformed"}},

	{"padded certificate", "certificate(\"=\")\nserve(\"SERVING\")\nprint(\"1|1|tcp|$ADDRESS|grpc|$CERTIFICATE\")\nhang()", "--mtls", 6,
		[]string{"handshake failure handshake-malformed"}},
	{"certificate without TLS", "certificate()\nprint(\"1|1|tcp|127.0.0.1:4410|grpc|$CERTIFICATE\")\nhang()", "", 6,
		[]string{"handshake failure handshake-malformed"}},
	{"TLS without certificate", "serve(\"SERVING\")\n" + spoken, "--mtls", 6, []string{"handshake failure handshake-malformed"}},

	{"169.254.169.254", "print(\"1|1|tcp|169.254.169.254:80|grpc\")\nhang()", "", 6, []string{"handshake failure address-refused"}},
	{"0.0.0.0", "print(\"1|1|tcp|0.0.0.0:4410|grpc\")\nhang()", "", 6, []string{"handshake failure address-refused"}},
	{"host name", "print(\"1|1|tcp|localhost:4410|grpc\")\nhang()", "", 6, []string{"handshake failure address-refused"}},
	{"port 0", "print(\"1|1|tcp|127.0.0.1:0|grpc\")\nhang()", "", 6, []string{"handshake failure address-refused"}},
	{"socket with a long name", "write(\"1|1|unix|$TMPDIR/\")\nwrite(\"x\" * 200)\nprint(\"|grpc\")\nhang()", "", 6,
		[]string{"handshake failure address-refused"}},
	{"socket that is none", "print(\"1|1|unix|/proc/version|grpc\")\nhang()", "", 6, []string{"handshake failure address-refused"}},
	{"socket outside", "print(\"1|1|unix|/nowhere/at/all|grpc\")\nhang()", "", 6, []string{"handshake failure address-refused"}},
	{"socket not there", "print(\"1|1|unix|$TMPDIR/none|grpc\")\nhang()", "", 6, []string{"connect failure connect-failed"}},
	{"socket of another", "print(\"1|1|unix|$FOREIGN_SOCKET|grpc\")\nhang()", "", 6, []string{"handshake failure address-not-owned"}},
	{"address of another", "print(\"1|1|tcp|$FOREIGN|grpc\")\nhang()", "", 6, []string{"handshake failure address-not-owned"}},
	{"nothing listens", "listen(\"closed\")\n" + spoken, "", 6, []string{"connect failure connect-failed"}},
	{"mute", "listen(\"mute\")\n" + spoken, "", 6, []string{"connect failure connect-failed"}},
	{"another protocol", "listen(\"ssh\")\n" + spoken, "", 6, []string{"connect failure connect-failed"}},

	{"exit 0", "exit(0)", "", 5, []string{"launch failure start-failed"}},
	{"exit 3", "warn(\"no licence\")\nexit(3)", "", 5, []string{"launch failure start-failed"}},
	{"exit after the line", "print(\"1|1|tcp|127.0.0.1:4410|grpc\")\nexit(4)", "", 5, []string{"launch failure start-failed"}},

	{"carriage return", "serve(\"SERVING\")\nprint(\"1|1|tcp|$ADDRESS|grpc\\r\")\nhang()", "--skip services,hooks", 0, nil},
	{"health of nobody", "serve(\"none\")\n" + spoken, "--skip services,hooks", 7, []string{"health failure health-missing"}},
	{"NOT_SERVING", "serve(\"NOT_SERVING\")\n" + spoken, "--skip services,hooks", 7, []string{"health failure health-not-serving"}},
	{"UNKNOWN", "serve(\"UNKNOWN\")\n" + spoken, "--skip services,hooks", 7, []string{"health failure health-not-serving"}},
	{"another service", "serve(\"SERVING\")\n" + spoken, "--skip services,hooks --service other", 7, []string{"health failure health-unknown-service"}},
	{"health that hangs", "serve(\"hang\")\n" + spoken, "--skip services,hooks", 7, []string{"health failure health-silent"}},
}

// TestCheckFakes checks plugins that are wrong before Python matters.
func TestCheckFakes(t *testing.T) {
	temp := leftEmpty(t)
	foreign := []string{
		"TMPDIR=" + temp, "PYPLUG_PYTHON=", "FOREIGN=" + listening(t, "tcp", "127.0.0.1:0"),
		"FOREIGN_SOCKET=" + listening(t, "unix", filepath.Join(temp, "socket")),
	}
	for _, row := range fakes {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plugin := filepath.Join(dir, "plugin.py")
			if err := os.WriteFile(plugin, []byte("import grpc\n"+row.script), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := makeFake(dir); err != nil {
				t.Fatal(err)
			}
			words := append(strings.Fields(row.flags), "--transport", "grpc", "--skip", "host", plugin)
			checkPlugin(t, foreign, words...).holds(t, row.code, row.want...)
		})
	}
}

// leftEmpty is a directory for temporary files, of which none may be left.
func leftEmpty(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		if left := entries(dir); len(left) > 0 {
			t.Errorf("left in the temporary directory: %q", left)
		}
	})
	return dir
}

// listening is an address at which this process listens until the test is over.
func listening(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// quirks are the plugins of testdata/plugins/grpc/quirks.py, whose cookie is named
// unless the flags do so.
var quirks = []struct {
	name  string // of the quirk
	flags []string
	code  int
	want  []string
}{
	{"none", nil, 0, nil},
	{"one worker", nil, 0, nil},
	{"long line after", nil, 0, []string{"host warning host-kills"}},
	{"unflushed", nil, 7, []string{"host failure handshake-unflushed"}},
	{"text", nil, 6, []string{"launch failure stdout-noise"}},
	{"blank", nil, 6, []string{"launch failure stdout-noise"}},
	{"long line", nil, 6, []string{"launch failure stdout-noise"}},
	{"exit", nil, 5, []string{"launch failure start-failed"}},
	{"raises", nil, 5, []string{"launch failure start-failed"}},
	{"import", nil, 5, []string{"launch failure start-failed"}},
	{"segfault", nil, 5, []string{"launch failure start-failed"}},
	{"no cookie", []string{"--cookie", "ANOTHER=value"}, 5, []string{"launch failure start-failed"}},
	{"late", []string{"--skip", "host"}, 0, []string{"handshake warning handshake-slow"}},
	{"early", nil, 7, []string{"host failure host-refused"}}, // pyplug tries again for a while
	{"no health", nil, 7, []string{"health failure health-missing", "host failure host-refused"}},
	{"other health", nil, 7, []string{"health failure health-unknown-service", "host failure host-refused"}},
	{"health raises", nil, 7, []string{"health failure health-not-serving", "host failure host-refused"}},
	{"one thread", nil, 7, []string{"host failure host-hangs"}},
	{"no controller", nil, 0, []string{"services warning no-controller"}},
	{"crash", []string{"--call", "Leave n=7"}, 8, []string{"hooks failure call-failed"}},
	{"stubborn", []string{"--stop-timeout", "0.3", "--skip", "host"}, 0, []string{"services warning no-controller", "stop warning stop-killed"}},
	{"shutdown hangs", []string{"--stop-timeout", "0.3"}, 7, []string{"stop warning stop-killed", "host failure host-hangs"}},
	{"child", nil, 7, []string{"stop warning left-behind", "host failure host-hangs"}},
	{"quiet child", nil, 0, []string{"stop warning left-behind"}},
	{"any cookie", nil, 0, []string{"cookie warning cookie-unchecked"}},
	{"fixed port", nil, 0, []string{"host warning address-fixed"}},
}

// quirky is the environment of a quirk.
func quirky(t *testing.T, quirk string) []string {
	t.Helper()
	env := []string{"PYPLUG_PYTHON=" + runnertest.GRPCIO(t), "PYTHONDONTWRITEBYTECODE=1", "QUIRK=" + quirk}
	if quirk == "fixed port" {
		env = append(env, "PORT="+freePort(t))
	}
	return env
}

// freePort is a port that nobody had a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestCheckQuirks checks plugins in a real Python.
func TestCheckQuirks(t *testing.T) {
	temp := leftEmpty(t)
	for _, row := range quirks {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			words := row.flags
			if !slices.Contains(words, "--cookie") {
				words = append([]string{"--cookie", "ZOO_COOKIE=monkey"}, words...)
			}
			c := checkPlugin(t, append(quirky(t, row.name), "TMPDIR="+temp), append(words, "testdata/plugins/grpc/quirks.py")...)
			c.holds(t, row.code, row.want...)
		})
	}
	t.Run("cookie not given", func(t *testing.T) {
		t.Parallel()
		c := checkPlugin(t, quirky(t, "none"), "testdata/plugins/grpc/quirks.py")
		c.holds(t, 5, "launch failure start-failed")
		if f := c.stage("launch").Findings; len(f) == 0 || !strings.Contains(f[0].Fix, "--cookie KEY=VALUE") {
			t.Errorf("launch: %+v, want a fix with --cookie", f)
		}
	})
}
