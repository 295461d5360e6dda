//go:build linux

package commands_test

import (
	"encoding/json"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checked is the output of check --json for a plugin.
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

// stage returns the stage with a name, or the zero value if the check did not reach it.
func (c checked) stage(name string) checkedStage {
	for _, st := range c.Stages {
		if st.Name == name {
			return st
		}
	}
	return checkedStage{}
}

// serious returns the warnings and failures, as "STAGE VERDICT ID", in their order.
func (c checked) serious() []string {
	return c.told("warning", "failure")
}

// told returns the findings with one of the verdicts.
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

// checkPlugin runs check --json to its end. No process of it may be left after the test.
func checkPlugin(t *testing.T, env []string, words ...string) checked {
	t.Helper()
	return startCheck(t, env, words...).checked(t)
}

// startCheck starts the check of checkPlugin.
func startCheck(t *testing.T, env []string, words ...string) *session {
	t.Helper()
	// Annotations of this check are not for the job that runs the tests.
	s := pyplug(t, append([]string{"GITHUB_ACTIONS="}, env...), append([]string{"check", "--json"}, words...)...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// checked waits for the output.
func (s *session) checked(t *testing.T) checked {
	t.Helper()
	_ = s.Wait() // its exit code is checked
	var c checked
	if err := json.Unmarshal(s.out.Bytes(), &c); err != nil {
		t.Fatalf("%v: %s%s", err, &s.out, &s.errs)
	}
	if code := shellCode(s.ProcessState); code != c.ExitCode {
		t.Errorf("exit code %d, the report has %d", code, c.ExitCode)
	}
	return c
}

// holds checks that the report has exactly these warnings and failures, and that it is complete:
// stages that need a failed one were skipped, and each finding says what to do.
func (c checked) holds(t *testing.T, code int, serious ...string) {
	t.Helper()
	got := c.serious()
	if slices.Contains(got, slowStart) && !slices.Contains(serious, slowStart) {
		t.Logf("this machine is too busy: the plugin was found to be slow, among %q", got)
		got = slices.DeleteFunc(got, func(id string) bool { return id == slowStart })
		if code == 0 {
			code = c.ExitCode // the exit code with --strict
		}
	}
	if !slices.Equal(got, serious) {
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
	}
	c.mended(t)
	if n := len(c.Stages); n != 12 {
		t.Errorf("%d stages, want 12", n)
	}
	if t.Failed() {
		for _, st := range c.Stages {
			t.Logf("%-8s %s: %s %+v", st.Status, st.Name, st.Message, st.Findings)
		}
	}
}

// mended checks that every finding has a name and a message, and that each failure and warning says
// what to do. A finding in plain needs no fix, because its message or the plugin's error is clear.
func (c checked) mended(t *testing.T) {
	t.Helper()
	for _, st := range c.Stages {
		for _, f := range st.Findings {
			if f.ID == "" || f.Message == "" || f.Fix == "" && f.Status != "note" && !slices.Contains(plain, f.ID) {
				t.Errorf("%s has a finding without a name, a message or a fix: %+v", st.Name, f)
			}
		}
	}
}

var plain = []string{"syntax-error", "start-failed"}

// slowStart is a finding that any plugin may cause on an overloaded machine.
const slowStart = "handshake warning handshake-slow"

// starts lists the stages after whose failure nothing else can be checked.
var starts = []string{"launch", "handshake", "connect"}

const spoken = "print(\"1|1|tcp|$ADDRESS|grpc\")\nhang()"

// fakes are plugins of the fake Python, see grpc_fake_test.go. Each has only the fault that its
// name describes. The stage host is skipped, because it would take its maximum time.
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
	{"host name", "print(\"1|1|tcp|plugin.test:4410|grpc\")\nhang()", "", 6, []string{"handshake failure address-refused"}},
	{"port 0", "print(\"1|1|tcp|127.0.0.1:0|grpc\")\nhang()", "", 6, []string{"handshake failure address-refused"}},
	{"socket with a long name", "write(\"1|1|unix|$TMPDIR/\")\nwrite(\"x\" * 200)\nprint(\"|grpc\")\nhang()", "", 6,
		[]string{"handshake failure address-refused"}},
	{"socket that is none", "print(\"1|1|unix|/proc/version|grpc\")\nhang()", "", 6, []string{"handshake failure address-refused"}},
	{"socket outside", "print(\"1|1|unix|/nowhere/at/all|grpc\")\nhang()", "", 6, []string{"handshake failure address-refused"}},
	{"socket not there", "print(\"1|1|unix|$TMPDIR/none|grpc\")\nhang()", "", 6, []string{"connect failure connect-failed"}},
	{"socket of another", "print(\"1|1|unix|$FOREIGN_SOCKET|grpc\")\nhang()", "", 6, []string{"handshake failure address-not-owned"}},
	{"address of another", "print(\"1|1|tcp|$FOREIGN|grpc\")\nhang()", "", 6, []string{"handshake failure address-not-owned"}},
	{"nothing listens", "listen(\"closed\")\n" + spoken, "", 6, []string{"connect failure connect-failed"}},
	{"another protocol", "listen(\"ssh\")\n" + spoken, "", 6, []string{"connect failure connect-failed"}},

	{"exit 0", "exit(0)", "", 5, []string{"launch failure start-failed"}},
	{"exit 3", "warn(\"no licence\")\nexit(3)", "", 5, []string{"launch failure start-failed"}},
	{"exit after the line", "print(\"1|1|tcp|127.0.0.1:4410|grpc\")\nexit(4)", "", 5, []string{"launch failure start-failed"}},

	{"carriage return", "serve(\"SERVING\")\nprint(\"1|1|tcp|$ADDRESS|grpc\\r\")\nhang()", "--skip hooks", 0, []string{"stop warning no-controller"}},
	{"health of nobody", "serve(\"none\")\n" + spoken, "--skip hooks", 0, []string{"health warning health-missing", "stop warning no-controller"}},
	{"NOT_SERVING", "serve(\"NOT_SERVING\")\n" + spoken, "--skip hooks", 7, []string{"health failure health-not-serving", "stop warning no-controller"}},
	{"UNKNOWN", "serve(\"UNKNOWN\")\n" + spoken, "--skip hooks", 7, []string{"health failure health-not-serving", "stop warning no-controller"}},
	{"another service", "serve(\"SERVING\")\n" + spoken, "--skip hooks --service other", 7, []string{"health failure health-unknown-service", "stop warning no-controller"}},
	{"mute", "listen(\"mute\")\n" + spoken, "", 6, []string{"connect failure connect-failed"}},
	{"health that hangs", "serve(\"hang\")\n" + spoken, "--skip hooks", 7, []string{"health failure health-silent", "stop warning no-controller"}},
}

// TestCheckFakes checks plugins whose faults do not depend on a real Python.
func TestCheckFakes(t *testing.T) {
	t.Parallel()
	temp := leftEmpty(t)
	foreign := []string{
		"TMPDIR=" + temp, "PYPLUG_PYTHON=", "FOREIGN=" + listening(t, "tcp", "127.0.0.1:0"),
		"FOREIGN_SOCKET=" + listening(t, "unix", filepath.Join(temp, "socket")),
	}
	// Most of them make pyplug wait, so some run at once.
	const some = 12
	sessions := make([]*session, len(fakes))
	for i, row := range fakes {
		for ahead := i; ahead < min(i+some, len(fakes)); ahead++ {
			if sessions[ahead] == nil {
				sessions[ahead] = startFake(t, foreign, fakes[ahead].script, fakes[ahead].flags)
			}
		}
		c := sessions[i].checked(t)
		t.Run(row.name, func(t *testing.T) { c.holds(t, row.code, row.want...) })
	}
}

// startFake starts the check of a script.
func startFake(t *testing.T, env []string, script, flags string) *session {
	t.Helper()
	dir := written(t, map[string]string{"plugin.py": "import grpc\n" + script})
	if err := makeFake(dir); err != nil {
		t.Fatal(err)
	}
	words := append(strings.Fields(flags), "--transport", "grpc", "--skip", "host", filepath.Join(dir, "plugin.py"))
	return startCheck(t, env, words...)
}

// leftEmpty returns a directory for temporary files that must be empty at the end.
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

// listening returns an address at which this process listens until the test ends.
func listening(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
