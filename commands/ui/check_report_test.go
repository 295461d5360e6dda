package ui

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

const junitBad = `  <testsuite name="kv/bad.py" tests="5" failures="2" errors="0" skipped="3" time="2.100">
    <testcase classname="kv/bad.py" name="launch" time="0.212">
      <failure type="start-failed" message="the file cannot be loaded">failure: the file cannot be loaded [start-failed]
  ValueError: no name\x1b[2J
  /srv/plugins/greeter.py:12 in greet
    raise ValueError(&#34;no name&#34;)
  /lib/other.py:3 in inner
  caused by KeyError: &#39;name&#39;
    &lt;string&gt;:1
failure: no handshake was printed [handshake-missing]
  the plugin ended
  before it was ready
  ended with exit code 3 after 212ms
  last lines of its output:
    :\:error::gone
</failure>
      <system-out>warning: a line stood before the handshake, expected none [stdout-noise]
  /srv/kv/bad.py:7
  fix: print to standard error
</system-out>
    </testcase>
    <testcase classname="kv/bad.py" name="connect" time="0.000">
      <skipped message="the launch failed"></skipped>
    </testcase>
    <testcase classname="kv/bad.py" name="health" time="0.000">
      <skipped message="the launch failed"></skipped>
    </testcase>
    <testcase classname="kv/bad.py" name="cookie" time="0.000">
      <skipped message="no cookie is known"></skipped>
    </testcase>
    <testcase classname="kv/bad.py" name="host" time="0.000">
      <failure type="host-refused" message="a host refuses it">failure: a host refuses it [host-refused]
</failure>
      <system-out>note: by the way [address-fixed]
</system-out>
    </testcase>
  </testsuite>
  <testsuite name="slow.py" tests="2" failures="0" errors="1" skipped="0" time="90.000">
    <testcase classname="slow.py" name="plugin" time="0.000"></testcase>
    <testcase classname="slow.py" name="check" time="0.000">
      <error type="canceled" message="interrupted">  interrupted
</error>
    </testcase>
  </testsuite>
</testsuites>
`

// checked returns a printer after these checks.
func checked(s *Streams, strict bool, all []CheckResult) *CheckPrinter {
	return &CheckPrinter{s: s, strict: strict, all: all}
}

func TestWriteJUnit(t *testing.T) {
	const head = xml.Header + `<testsuites tests="7" failures="2" errors="1" skipped="3" time="92.100">` + "\n"
	var got bytes.Buffer
	if err := checked(nil, false, checks()[1:]).WriteJUnit(&got); err != nil || strings.ReplaceAll(got.String(), "&#xA;", "\n") != head+junitBad {
		t.Errorf("got\n%s\n%v, want\n%s", got.String(), err, head+junitBad)
	}
	for strict, want := range map[bool]string{
		false: `<testsuite name="kv/plugin.py" tests="4" failures="0" errors="0" skipped="1" time="0.412">` + "\n",
		true:  `<testsuite name="kv/plugin.py" tests="4" failures="1" errors="0" skipped="1" time="0.412">` + "\n",
	} {
		got.Reset()
		if err := checked(nil, strict, checks()[:1]).WriteJUnit(&got); err != nil || !strings.Contains(got.String(), want) {
			t.Errorf("strict %v: got\n%s\n%v, want\n%s", strict, got.String(), err, want)
		}
		const note, warning = "note: it uses a constant port [address-fixed]\n  fix: listen at port 0 to begin\n  fix: and print one\n</system-out>",
			`<failure type="no-controller" message="no plugin.GRPCController is served, so a host`
		if !strings.Contains(strings.ReplaceAll(got.String(), "&#xA;", "\n"), note) || strings.Contains(got.String(), warning) != strict {
			t.Errorf("strict %v: got\n%s", strict, got.String())
		}
	}
}

// onGitHub gives streams the environment of a GitHub job.
func onGitHub(s *Streams, workspace string) {
	s.Getenv = func(name string) string {
		if name == "GITHUB_WORKSPACE" {
			return workspace
		}
		return ""
	}
}

func TestAnnotate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of other systems")
	}
	all := checks()
	all[0].Stages[2].Findings[1].Message = "100 % of it:\r\na, b\x1b::error::no"
	s, out, errs := testStreams("")
	inWork(s)
	onGitHub(s, "/srv/kv")
	checked(s, false, all).Annotate()
	want := `::warning file=plugin.py,title=pyplug%3A no-controller::100 %25 of it:%0Aa, b\x1b::error::no%0Afix: serve plugin.GRPCController/Shutdown and end the program in it
::notice file=plugin.py,title=pyplug%3A address-fixed::it uses a constant port%0Afix: listen at port 0 to begin%0Afix: and print one
::error file=/srv/plugins/greeter.py,line=12,title=pyplug%3A start-failed::the file cannot be loaded
::error file=bad.py,title=pyplug%3A handshake-missing::no handshake was printed
::warning file=bad.py,line=7,title=pyplug%3A stdout-noise::a line stood before the handshake, expected none%0Afix: print to standard error
::error file=bad.py,title=pyplug%3A host-refused::a host refuses it
::notice file=bad.py,title=pyplug%3A address-fixed::by the way
::error file=/srv/slow.py,title=pyplug%3A the check ended early::interrupted
`
	if errs.String() != want || out.Len() > 0 {
		t.Errorf("got\n%s\nwant\n%s", errs, want)
	}
}

func TestAnnotateElsewhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of other systems")
	}
	for _, test := range []struct{ workspace, cwd, path, want string }{
		{"", "/srv", "/srv/a,b:c.py", "a%2Cb%3Ac.py"},
		{"", "/srv", "../x.py", "/x.py"},
		{"/", "/srv", "x.py", "srv/x.py"},
		{"/home", "", "x.py", "x.py"},
		{"", "", "x\n%.py", "x%0A%25.py"},
	} {
		s, _, errs := testStreams("")
		if test.cwd != "" {
			s.Getwd = func() (string, error) { return test.cwd, nil }
		}
		onGitHub(s, test.workspace)
		checked(s, false, []CheckResult{{Err: &hook.Error{Err: errors.New("x")}, Report: hook.Report{Plugin: test.path}}}).Annotate()
		if got, _, _ := strings.Cut(strings.TrimPrefix(errs.String(), "::error file="), ",title="); got != test.want {
			t.Errorf("%+v: got %q", test, errs)
		}
	}
	s, _, errs := testStreams("")
	s.LogJSON = true
	checked(s, false, checks()).Annotate()
	if errs.Len() > 0 {
		t.Errorf("got %q among JSON lines", errs)
	}
}

// hostile returns checks with the given text wherever a plugin may choose a text.
func hostile(text string) []CheckResult {
	e := &hook.Error{Kind: hook.Start, Hook: text, Err: errors.New(text), Tried: []string{text},
		Python: &hook.Raised{Type: text, Message: text, Frames: []hook.Frame{{File: schema.Path(text), Line: 1, Function: text, Text: text, Column: 2}}},
		Status: &hook.RPCStatus{Code: text, Message: text}, Exit: &hook.Exit{Signal: text, Stderr: []string{text}, Stacks: []string{text}}}
	own := hook.Finding{ID: "a", Verdict: hook.Failure, Message: text, Fix: []string{text, text}, File: text, Line: 1, Err: e}
	other := own
	other.Message, other.Verdict = text+" too", hook.Warning
	r := hook.Report{Plugin: text, Transport: text, Stages: []hook.Stage{
		{Name: "stage", Verdict: hook.Failure, Message: text, Findings: []hook.Finding{own, other}, Details: map[string]any{text: text}},
		{Name: "stage", Verdict: hook.Skipped, Message: text},
		{Name: "stage", Verdict: hook.Skipped, Message: text},
	}}
	return []CheckResult{{Report: r}, {Report: r, Err: e, ExitCode: 1}}
}

var isAnnotation = regexp.MustCompile(`^::(error|warning) (file=[^:,]*,(line=1,)?)?title=[^:,]+::.*\n$`)

// FuzzCheck checks that each form of the report stays valid, whatever bytes a plugin prints.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x00\x01\x1b[2J\x7f\u0085\u009b", "a\xff\xc3(\xed\xa0\x80", "]]><!--&\"'", "\ufffe\uffff\U0010ffff\u2028\u202e\u2066",
		"a\r\n::error::b\n##[c]\n\n", "|`|\\|<b>\n\t", strings.Repeat("日本語 ", 40)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all := hostile(text)
		s, _, _ := testStreams("")
		terminal, errs := &sized{width: 80}, &sized{width: 80}
		s.Out, s.Err, s.OutTTY, s.ErrTTY = terminal, errs, true, true
		printChecks(t, s.Checks(true, false, false), all, false)
		harmless(t, "a terminal", terminal.take())

		inCI, log, _ := testStreams("")
		printChecks(t, inCI.Checks(true, false, false), all, false)
		for line := range strings.Lines(log.String()) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "\r") || strings.Contains(line, "##[c]") {
				t.Errorf("got the line %q in a log", line)
			}
		}

		if err := s.Checks(false, true, false).Check(all[1], false)(); err != nil {
			t.Fatal(err)
		}
		line := terminal.take()
		harmless(t, "JSON", line)
		if !json.Valid([]byte(line)) || strings.Count(line, "\n") != 1 {
			t.Errorf("got %q, want JSON on one line", line)
		}

		checked(s, false, all).Annotate()
		commands := errs.take()
		harmless(t, "annotations", commands)
		for command := range strings.Lines(commands) {
			if !isAnnotation.MatchString(command) {
				t.Errorf("got the line %q of annotations", command)
			}
		}

		var file bytes.Buffer
		if err := checked(s, true, all).WriteJUnit(&file); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, file.Bytes())
	})
}

// harmless checks that a text contains no character that acts.
func harmless(t *testing.T, name, text string) {
	t.Helper()
	for _, r := range text {
		if acts(r) {
			t.Errorf("%s: got %q, which has %U", name, text, r)
		}
	}
	if !utf8.ValidString(text) {
		t.Errorf("%s: got %q, which is not UTF-8", name, text)
	}
}

// wellFormed parses the XML. The numbers of suites, cases and failures must match the counts in its
// attributes, and XML must allow all characters.
func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	harmless(t, "JUnit", string(text))
	dec := xml.NewDecoder(bytes.NewReader(text))
	count := map[string]int{}
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if start, ok := token.(xml.StartElement); ok {
			count[start.Name.Local]++
		}
	}
	if count["testsuite"] != 2 || count["testcase"] != 7 || count["failure"] != 2 || count["error"] != 1 || count["skipped"] != 4 {
		t.Errorf("got %v in\n%s", count, text)
	}
}
