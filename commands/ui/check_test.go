package ui

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
)

const ms = time.Millisecond

// checks returns one check that passed, one that failed, and one that ended early.
func checks() []CheckResult {
	controller := hook.Finding{
		ID: "no-controller", Verdict: hook.Warning,
		Message: "no plugin.GRPCController is served, so a host waits 2 s and kills the plugin",
		Fix:     []string{"serve plugin.GRPCController/Shutdown and end the program in it"},
	}
	reflection := hook.Finding{ID: "address-fixed", Verdict: hook.Note, Message: "it uses a constant port", Fix: []string{"listen at port 0 to begin", "and print one"}}
	noise := hook.Finding{ID: "stdout-noise", Verdict: hook.Warning, Message: "a line stood before the handshake, expected none",
		File: "/srv/kv/bad.py", Line: 7, Fix: []string{"print to standard error"}}
	raised := hook.Finding{ID: "start-failed", Verdict: hook.Failure, Kind: hook.Start, Message: "the file cannot be loaded",
		File: "/srv/plugins/greeter.py", Line: 12, Err: failures()["python"].Err}
	ended := hook.Finding{ID: "handshake-missing", Verdict: hook.Failure, Kind: hook.Handshake, Message: "no handshake was printed",
		Err: &hook.Error{Kind: hook.Start, Err: errors.New("the plugin ended\nbefore it was ready"), Exit: &hook.Exit{Code: 3, Uptime: 212 * ms, Stderr: []string{"::error::gone"}}}}
	return []CheckResult{
		{Report: hook.Report{Plugin: "kv/plugin.py", Transport: "grpc", Took: 412 * ms, Stages: []hook.Stage{
			{Name: "plugin", Message: "a gRPC plugin: it imports gRPC and prints a handshake", Took: 300 * time.Microsecond},
			{Name: "interpreter", Message: "python 3.11.7 (.venv next to the plugin)", Took: 12 * ms,
				Details: map[string]any{"python": "3.11.7", "wait_ms": 1.5}},
			{Name: "host", Verdict: hook.Warning, Message: controller.Message, Findings: []hook.Finding{reflection, controller}, Took: 2 * ms},
			{Name: "cookie", Verdict: hook.Skipped, Message: "no cookie is known"},
		}}},
		{ExitCode: 5, Report: hook.Report{Plugin: "kv/bad.py", Took: 2100 * ms, Stages: []hook.Stage{
			{Name: "launch", Verdict: hook.Failure, Message: "it did not start", Findings: []hook.Finding{noise, raised, ended}, Took: 212 * ms},
			{Name: "connect", Verdict: hook.Skipped, Message: "the launch failed"},
			{Name: "health", Verdict: hook.Skipped, Message: "the launch failed"},
			{Name: "cookie", Verdict: hook.Skipped, Message: "no cookie is known"},
			{Name: "host", Verdict: hook.Failure, Message: "a host refuses it", Findings: []hook.Finding{
				{ID: "address-fixed", Verdict: hook.Note, Message: "by the way"}, {ID: "host-refused", Verdict: hook.Failure, Message: "a host refuses it"}}},
		}}},
		{ExitCode: 130, Err: &hook.Error{Kind: hook.Canceled, Err: errors.New("interrupted")}, Report: hook.Report{
			Plugin: "slow.py", Took: 90 * time.Second, Stages: []hook.Stage{{Name: "plugin", Message: "a functions file"}}}},
	}
}

// printChecks prints checks as a command does.
func printChecks(t *testing.T, p *CheckPrinter, all []CheckResult, shown bool) {
	t.Helper()
	failed := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range all {
		if print := p.Check(c, shown); print != nil {
			failed(print())
		}
	}
	failed(p.Finish())
}

var checkTexts = []string{`kv/plugin.py
  ok       plugin       a gRPC plugin: it imports gRPC and prints a handshake
  ok       interpreter  python 3.11.7 (.venv next to the plugin)  12ms
  warning  host         no plugin.GRPCController is served, so a host waits 2 s and kills the plugin  [no-controller]  2ms
           fix: serve plugin.GRPCController/Shutdown and end the program in it
           note: it uses a constant port  [address-fixed]
             fix: listen at port 0 to begin
             fix: and print one
  skipped  cookie: no cookie is known
passed with 1 warning and 1 note in 412ms
`, `kv/bad.py
  failure  launch       it did not start  212ms
           warning: a line stood before the handshake, expected none  [stdout-noise]
             kv/bad.py:7
             fix: print to standard error
           failure: the file cannot be loaded  [start-failed]
             ValueError: no name\x1b[2J
             plugins/greeter.py:12 in greet
               raise ValueError("no name")
             /lib/other.py:3 in inner
             caused by KeyError: 'name'
               <string>:1
           failure: no handshake was printed  [handshake-missing]
             the plugin ended
             before it was ready
             ended with exit code 3 after 212ms
             last lines of its output:
               :\:error::gone
  failure  host         a host refuses it  [host-refused]
           note: by the way  [address-fixed]
  skipped  connect, health: the launch failed; cookie: no cookie is known
failed: launch (exit 5), 3 failures, 1 warning, 1 note, in 2.1s
`, `slow.py
  ok       plugin       a functions file
ended early: interrupted (exit 130), in 1m30s
`}

func TestCheckPlain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of other systems")
	}
	const hint = "hint: run `pyplug help finding "
	ends := []string{
		"\n" + hint + "no-controller` to read about this finding; the same for every name in brackets\n",
		"\n" + hint + "start-failed` to read about this finding; the same for every name in brackets\n",
		"",
	}
	for i, c := range checks() {
		s, out, errs := testStreams("")
		inWork(s)
		printChecks(t, s.Checks(false, false, false), []CheckResult{c}, false)
		if want := checkTexts[i] + ends[i]; out.String() != want || errs.Len() > 0 {
			t.Errorf("got\n%s\nwant\n%s", out, want)
		}
	}
	s, out, _ := testStreams("")
	inWork(s)
	began := time.Now()
	s.Now = func() time.Time { return began }
	printer := s.Checks(false, false, false)
	s.Now = func() time.Time { return began.Add(92 * time.Second) } // less than the sum of the checks, because two ran at a time
	printChecks(t, printer, checks(), false)
	want := strings.Join(checkTexts, "\n") + `
PLUGIN        RESULT       EXIT  FAILURES  WARNINGS  TIME
kv/plugin.py  passed       0     0         1         412ms
kv/bad.py     failed       5     3         1         2.1s
slow.py       ended early  130   0         0         1m30s
1 of 3 plugins passed in 1m32s
` + ends[1]
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// TestCheckTerminal checks that a terminal gets colors, lines that wrap at words, and no control
// characters of a plugin.
func TestCheckTerminal(t *testing.T) {
	s, _, _ := testStreams("")
	terminal := &sized{width: 64}
	s.Out, s.OutTTY, s.outColor = terminal, true, true
	c := checks()[0]
	c.Plugin, c.Stages[3].Message = "a\x1b]0;x\a", "two\nlines\r"
	c.Stages = c.Stages[1:]
	c.Stages[1].Findings[1].Err = &hook.Error{Err: errors.New("x"), Exit: &hook.Exit{Stderr: []string{"gone"}}}
	c.Stages[1].Findings[1].Printed = true
	p := s.Checks(false, false, false)
	printChecks(t, p, []CheckResult{c}, true)
	want := "\x1b[1ma\\x1b]0;x\\x07\x1b[22m\n" +
		"  \x1b[32mok\x1b[0m       interpreter  python 3.11.7 (.venv next to the\n" +
		"                        plugin)  12ms\n" +
		"  \x1b[33mwarning\x1b[0m  host         no plugin.GRPCController is served, so\n" +
		"                        a host waits 2 s and kills the plugin\n" +
		"                        [no-controller]  2ms\n" +
		"           x\n" +
		"           ended with exit code 0 after 0s\n" +
		"           fix: serve plugin.GRPCController/Shutdown and end\n" +
		"                the program in it\n" +
		"           \x1b[36mnote:\x1b[0m it uses a constant port  [address-fixed]\n" +
		"             fix: listen at port 0 to begin\n" +
		"             fix: and print one\n" +
		"  skipped  cookie: two\n" +
		"           lines\n" +
		"\x1b[32mpassed\x1b[0m with 1 warning and 1 note in 412ms\n" +
		"\n\x1b[36mhint:\x1b[0m run `pyplug help finding no-controller` to read about\n" +
		"      this finding; the same for every name in brackets\n"
	if got := terminal.take(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCheckVerdict(t *testing.T) {
	warned := hook.Report{Took: ms, Stages: []hook.Stage{{Name: "stop", Verdict: hook.Warning, Findings: []hook.Finding{{ID: "a", Verdict: hook.Warning}}}}}
	for want, test := range map[string]struct {
		c      CheckResult
		strict bool
	}{
		"passed in 1ms\n":                {CheckResult{Report: hook.Report{Took: ms}}, true},
		"passed with 1 warning in 1ms\n": {CheckResult{Report: warned}, false},
		"failed: stop (exit 7), 1 warning, warnings count as failures, in 1ms\n":     {CheckResult{Report: warned, ExitCode: 7}, true},
		"ended early: a bug of #\\#[x] of two lines (exit 125), 1 warning, in 1ms\n": {CheckResult{Report: warned, ExitCode: 125, Err: &hook.Error{Err: errors.New("a bug of ##[x]\nof two lines")}}, true},
	} {
		s, out, _ := testStreams("")
		err := s.Checks(test.strict, false, false).Check(test.c, false)()
		if got := out.String(); err != nil || !strings.HasSuffix(got, "\n"+want) {
			t.Errorf("got %q, %v, want %q", out, err, want)
		}
	}
	s, out, _ := testStreams("")
	p := s.Checks(false, false, false)
	p.all = []CheckResult{{Report: warned}}
	if err := p.Finish(); err != nil || out.String() != "\nhint: run `pyplug help finding a` to read about this finding\n" {
		t.Errorf("got %q, %v for one finding", out, err)
	}
	s.Out = brokenWriter{}
	for name, err := range map[string]error{
		"Check": p.Check(CheckResult{}, false)(), "Finish": p.Finish(), "JSON": s.Checks(false, true, false).Check(CheckResult{}, false)(),
		"WriteJUnit": p.WriteJUnit(s.Out),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: got %v, want the error of the write", name, err)
		}
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestCheckJSON(t *testing.T) {
	wants := []string{
		`{"schema":1,"plugin":"kv/plugin.py","transport":"grpc","verdict":"warning","exit_code":0,"took_ms":412,"stages":[` +
			`{"name":"plugin","status":"ok","message":"a gRPC plugin: it imports gRPC and prints a handshake","took_ms":0.3},` +
			`{"name":"interpreter","status":"ok","message":"python 3.11.7 (.venv next to the plugin)","details":{"python":"3.11.7","wait_ms":1.5},"took_ms":12},` +
			`{"name":"host","status":"warning","message":"no plugin.GRPCController is served, so a host waits 2 s and kills the plugin","findings":[` +
			`{"id":"address-fixed","status":"note","message":"it uses a constant port","fix":"listen at port 0 to begin\nand print one"},` +
			`{"id":"no-controller","status":"warning","message":"no plugin.GRPCController is served, so a host waits 2 s and kills the plugin","fix":"serve plugin.GRPCController/Shutdown and end the program in it"}],"fix":"serve plugin.GRPCController/Shutdown and end the program in it","took_ms":2},` +
			`{"name":"cookie","status":"skipped","message":"no cookie is known","took_ms":0}]}`,
		`{"schema":1,"plugin":"kv/bad.py","verdict":"failure","exit_code":5,"took_ms":2100,"stages":[{"name":"launch","status":"failure","message":"it did not start","findings":[` +
			`{"id":"stdout-noise","status":"warning","message":"a line stood before the handshake, expected none","fix":"print to standard error","file":"/srv/kv/bad.py","line":7},` +
			`{"id":"start-failed","status":"failure","message":"the file cannot be loaded","file":"/srv/plugins/greeter.py","line":12,"error":` + string(compactJSON(failures()["python"].Err)) + `},` +
			`{"id":"handshake-missing","status":"failure","message":"no handshake was printed","error":{"kind":"start","message":"the plugin ended\nbefore it was ready","sent":false,"exit":{"code":3,"after_ms":212,"stderr":["::error::gone"]}}}],"took_ms":212},` +
			`{"name":"connect","status":"skipped","message":"the launch failed","took_ms":0},{"name":"health","status":"skipped","message":"the launch failed","took_ms":0},` +
			`{"name":"cookie","status":"skipped","message":"no cookie is known","took_ms":0},{"name":"host","status":"failure","message":"a host refuses it","findings":[{"id":"address-fixed","status":"note","message":"by the way"},{"id":"host-refused","status":"failure","message":"a host refuses it"}],"took_ms":0}]}`,
		`{"schema":1,"plugin":"slow.py","verdict":"failure","exit_code":130,"took_ms":90000,"stages":[{"name":"plugin","status":"ok","message":"a functions file","took_ms":0}],` +
			`"error":{"kind":"canceled","message":"interrupted","sent":false}}`,
	}
	for i, c := range checks() {
		s, out, errs := testStreams("")
		if err := s.Checks(false, true, false).Check(c, false)(); err != nil || out.String() != wants[i]+"\n" || errs.Len() > 0 || !json.Valid(out.Bytes()) {
			t.Errorf("got\n%s\n%v, want\n%s", out, err, wants[i])
		}
	}
	s, out, _ := testStreams("")
	if err := s.Checks(false, true, false).Check(CheckResult{}, false)(); err != nil || out.String() != `{"schema":1,"plugin":"","verdict":"ok","exit_code":0,"took_ms":0,"stages":[]}`+"\n" {
		t.Errorf("got %s, %v for no stages", out, err)
	}
}
