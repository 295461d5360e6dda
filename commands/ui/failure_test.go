package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

func failures() map[string]Failure {
	raised := &hook.Raised{
		Type: "ValueError", Message: "no name\x1b[2J",
		Frames: []hook.Frame{
			{File: "/srv/plugins/greeter.py", Line: 12, Function: "greet", Text: "raise ValueError(\"no name\")"},
			{File: "/lib/other.py", Line: 3, Function: "inner"},
		},
		Cause: &hook.Raised{Type: "KeyError", Message: "'name'", Frames: []hook.Frame{{File: "<string>", Line: 1}}},
	}
	syntax := &hook.Raised{Type: "SyntaxError", Message: "invalid syntax", Frames: []hook.Frame{{File: "bad.py", Line: 2, Text: "\tdef x(:", Column: 8}}}
	group := &hook.Raised{Type: "ExceptionGroup", Message: "two (2 sub-exceptions)", Group: []*hook.Raised{
		{Type: "ValueError", Message: "a", Frames: []hook.Frame{{File: "g.py", Line: 1, Function: "f"}}}, {Type: "TypeError"}}}
	return map[string]Failure{
		"handshake": {
			Err: &hook.Error{Kind: hook.Handshake, Err: errors.New("field 5 (protocol) is \"netrpc\", expected \"grpc\""),
				Drawing: []string{"1|1|tcp|127.0.0.1:4410|netrpc", "                       ^^^^^^"},
				Plugin:  "plugins/resize.py (python 3.12.4, .venv)",
				Hints:   schema.Hints("print \"grpc\" as the fifth field: a Python plugin serves gRPC")},
		},
		"python": {Err: &hook.Error{Kind: hook.Failed, Hook: "greet", Begun: true, Python: raised}},
		"syntax": {Err: &hook.Error{Kind: hook.Start, Python: syntax, Err: errors.New("the file cannot be loaded")}},
		"group":  {Err: &hook.Error{Kind: hook.Failed, Hook: "g", Begun: true, Python: group}},
		"timeout": {Err: &hook.Error{Kind: hook.Timeout, Hook: "slow", Begun: true, Err: errors.New("no answer after 2 s"),
			At: []hook.Frame{{File: "slow.py", Line: 3, Function: "slow", Text: "time.sleep(60)"}}}},
		"crash": {Err: &hook.Error{Kind: hook.Crash, Hook: "boom", Begun: true, Err: errors.New("the plugin ended during the call"),
			Exit: &hook.Exit{Code: -1, Signal: "SIGKILL", OutOfMemory: true, Uptime: 2130 * time.Millisecond,
				Stderr: []string{"loading", "::error::gone ##[x]\r"}, Stacks: []string{"Thread 1:", "  File \"x.py\", line 3 in f"}}}},
		"tried": {Err: &hook.Error{Kind: hook.Interpreter, Err: errors.New("no python found"), Tried: []string{"$PYPLUG_PYTHON (unset)", ".venv/bin/python (broken symlink)"},
			Hints: []schema.Hint{schema.Hintf("recreate the environment"), schema.Hintf("or name one with %s", schema.Setting("python"))}}},
		"searched": {Err: &hook.Error{Kind: hook.Unavailable, Err: errors.New("x is not running"), Tried: []string{"searched: /tmp/a and /tmp/b", "skipped: /tmp/c is readable by others"}}},
		"exit":     {Err: &hook.Error{Kind: hook.Start, Err: errors.New("the plugin ended before it was ready"), Exit: &hook.Exit{Uptime: 212 * time.Millisecond}}},
		"status": {Err: &hook.Error{Kind: hook.Failed, Hook: "KV/Put", Begun: true, Err: errors.New("INVALID_ARGUMENT: no key"),
			Status: &hook.RPCStatus{Code: "INVALID_ARGUMENT", Message: "no key", Details: details()}}},
		"other words": {Err: &hook.Error{Kind: hook.Request, Hook: "KV/Put", Begun: true, Err: errors.New("no such hook"),
			Status: &hook.RPCStatus{Code: "UNIMPLEMENTED", Message: "use\nPutAll"}}},
	}
}

// details returns details of a status, of well-known and other types.
func details() []json.RawMessage {
	return []json.RawMessage{
		json.RawMessage(`{"@type":"type.googleapis.com/google.rpc.BadRequest","field_violations":[{"field":"key","description":"is <empty>` + "\u009b" + `"}]}`),
		json.RawMessage(`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"QUOTA","domain":"kv","metadata":{"a":"##[b]"}}`),
		json.RawMessage(`{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1.5s"}`),
		json.RawMessage(`{"@type":"zoo.Nothing"}`),
		json.RawMessage(`{"@type":"type.googleapis.com/google.rpc.DebugInfo","detail":"` + strings.Repeat("é", 200) + `"}`),
		json.RawMessage(`{"untyped":1}`),
	}
}

var failureTexts = map[string]string{
	"handshake": `error: handshake: field 5 (protocol) is "netrpc", expected "grpc"
  1|1|tcp|127.0.0.1:4410|netrpc
                         ^^^^^^
  plugin: plugins/resize.py (python 3.12.4, .venv)

hint: print "grpc" as the fifth field: a Python plugin serves gRPC
`,
	"python": `error: greet: ValueError: no name\x1b[2J
  plugins/greeter.py:12 in greet
    raise ValueError("no name")
  /lib/other.py:3 in inner
  caused by KeyError: 'name'
    <string>:1
`,
	"syntax": `error: start: the file cannot be loaded
  SyntaxError: invalid syntax
  bad.py:2
     def x(:
           ^
`,
	"group": `error: g: ExceptionGroup: two (2 sub-exceptions)
  1 of 2: ValueError: a
    g.py:1 in f
  2 of 2: TypeError
`,
	"timeout": `error: slow: no answer after 2 s
  was at slow.py:3 in slow
    time.sleep(60)
`,
	"crash": `error: boom: the plugin ended during the call
  ended by SIGKILL after 2.13s, probably out of memory
  it hung here:
    Thread 1:
      File "x.py", line 3 in f
  last lines of its output:
    loading
    :\:error::gone #\#[x]
`,
	"tried": `error: interpreter: no python found
  tried: $PYPLUG_PYTHON (unset)
  tried: .venv/bin/python (broken symlink)

hint: recreate the environment
hint: or name one with --python
`,
	"searched": `error: unavailable: x is not running
  searched: /tmp/a and /tmp/b
  skipped: /tmp/c is readable by others
`,
	"exit": `error: start: the plugin ended before it was ready
  ended with exit code 0 after 212ms
`,
	"status": `error: KV/Put: INVALID_ARGUMENT: no key
  {"@type":"type.googleapis.com/google.rpc.BadRequest","field_violations":[{"field":"key","description":"is <empty>\u009b"}]}
  {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"QUOTA","domain":"kv","metadata":{"a":"#\#[b]"}}
  {"@type":"type.googleapis.com/google.protobuf.Duration","value":"1.5s"}
  {"@type":"zoo.Nothing"}
  {"@type":"type.googleapis.com/google.rpc.DebugInfo","detail":"` + strings.Repeat("é", 200) + `"}
  {"untyped":1}
`,
	"other words": `error: KV/Put: no such hook
  status: UNIMPLEMENTED: use
  PutAll
`,
}

func inWork(s *Streams) { s.Getwd = func() (string, error) { return "/srv", nil } }

func TestFailText(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of other systems")
	}
	for name, f := range failures() {
		s, out, errs := testStreams("")
		inWork(s)
		s.ErrTTY = true
		s.Fail(t.Context(), f)
		if got := errs.String(); got != failureTexts[name] || out.Len() > 0 {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, failureTexts[name])
		}
	}
}

func TestFailColor(t *testing.T) {
	s, _, errs := testStreams("")
	s.screen.color = true
	s.Fail(t.Context(), Failure{Err: &hook.Error{Kind: hook.Usage, Err: errors.New("x"), Hints: schema.Hints("y")}})
	s.Warn("w")
	s.Note("two\nlines")
	want := "\x1b[31merror:\x1b[0m usage: x\n\n\x1b[36mhint:\x1b[0m y\n\x1b[33mwarning:\x1b[0m w\n\x1b[36mnote:\x1b[0m two\n  lines\n"
	if got := errs.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFailJSON(t *testing.T) {
	var rawDetails [][]byte
	for _, d := range details() {
		rawDetails = append(rawDetails, d)
	}
	tests := map[string]string{
		"python": `{"schema":1,"error":{"kind":"hook","message":"ValueError: no name\u001b[2J","hook":"greet","sent":true,"python":{"type":"ValueError","message":"no name\u001b[2J","frames":[{"file":"/srv/plugins/greeter.py","line":12,"function":"greet","text":"raise ValueError(\"no name\")"},{"file":"/lib/other.py","line":3,"function":"inner"}],"cause":{"type":"KeyError","message":"'name'","frames":[{"file":"<string>","line":1}]}}}}`,
		"timeout": `{"schema":1,"error":{"kind":"timeout","message":"no answer after 2 s","hook":"slow","sent":true,` +
			`"at":[{"file":"slow.py","line":3,"function":"slow","text":"time.sleep(60)"}]}}`,
		"crash":       `{"schema":1,"error":{"kind":"crash","message":"the plugin ended during the call","hook":"boom","sent":true,"exit":{"signal":"SIGKILL","out_of_memory":true,"after_ms":2130,"stderr":["loading","::error::gone \u0023#[x]\r"],"stacks":["Thread 1:","  File \"x.py\", line 3 in f"]}}}`,
		"tried":       `{"schema":1,"error":{"kind":"interpreter","message":"no python found","hint":"recreate the environment\nor name one with --python","sent":false,"tried":["$PYPLUG_PYTHON (unset)",".venv/bin/python (broken symlink)"]}}`,
		"searched":    `{"schema":1,"error":{"kind":"unavailable","message":"x is not running","sent":false,"tried":["searched: /tmp/a and /tmp/b","skipped: /tmp/c is readable by others"]}}`,
		"exit":        `{"schema":1,"error":{"kind":"start","message":"the plugin ended before it was ready","sent":false,"exit":{"code":0,"after_ms":212}}}`,
		"status":      `{"schema":1,"error":{"kind":"hook","message":"INVALID_ARGUMENT: no key","hook":"KV/Put","sent":true,"status":"INVALID_ARGUMENT","details":[` + strings.NewReplacer("##[", `\u0023#[`, "\u009b", `\u009b`).Replace(string(bytes.Join(rawDetails, []byte(",")))) + `]}}`,
		"other words": `{"schema":1,"error":{"kind":"request","message":"no such hook","hook":"KV/Put","sent":true,"status":"UNIMPLEMENTED","status_message":"use\nPutAll"}}`,
		"handshake":   `{"schema":1,"error":{"kind":"handshake","message":"field 5 (protocol) is \"netrpc\", expected \"grpc\"","hint":"print \"grpc\" as the fifth field: a Python plugin serves gRPC","sent":false,"drawing":["1|1|tcp|127.0.0.1:4410|netrpc","                       ^^^^^^"],"plugin":"plugins/resize.py (python 3.12.4, .venv)"}}`,
	}
	for name, want := range tests {
		s, out, errs := testStreams("")
		f := failures()[name]
		f.JSON = true
		s.Fail(t.Context(), f)
		if got := out.String(); got != want+"\n" || errs.Len() > 0 || !json.Valid(out.Bytes()) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestErrorJSON(t *testing.T) {
	f := failures()["group"]
	want := `{"kind":"hook","message":"ExceptionGroup: two (2 sub-exceptions)","hook":"g","sent":true,"python":{"type":"ExceptionGroup","message":"two (2 sub-exceptions)","group":[{"type":"ValueError","message":"a","frames":[{"file":"g.py","line":1,"function":"f"}]},{"type":"TypeError","message":""}]}}`
	if got := string(ErrorJSON(f.Err)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestFailureOfOutput checks that an error of standard output is not the hook's error. It is
// printed on standard error, because standard output does not accept it either.
func TestFailureOfOutput(t *testing.T) {
	err := &hook.Error{Kind: hook.Failed, Reason: hook.OutputFailed, Err: errors.New("standard output: no space left")}
	for _, asJSON := range []bool{false, true} {
		var out, errs bytes.Buffer
		s, _, _ := testStreams("")
		s.Out, s.Err = &out, &errs
		s.Fail(t.Context(), Failure{Err: err, JSON: asJSON})
		if out.Len() > 0 || errs.String() != "error: standard output: no space left\n" {
			t.Errorf("JSON %v: %q, %q", asJSON, out.String(), errs.String())
		}
	}
}

// TestCaret checks that a caret stays below its column.
func TestCaret(t *testing.T) {
	for _, test := range []struct {
		name, text string
		column     int
		want       string
	}{
		{"plain", "def x(:", 7, "def x(:\n      ^"},
		{"characters", "größe = é(:", 11, "größe = é(:\n          ^"},
		{"tabs", "\tif\tx:", 5, " if x:\n    ^"},
	} {
		var l errorLines
		l.cause(&hook.Error{At: []hook.Frame{{File: "f", Line: 1, Text: test.text, Column: test.column}}}, "", false)
		want := "  was at f:1\n    " + strings.ReplaceAll(test.want, "\n", "\n    ") + "\n"
		if got := visible(l.text("")); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, want)
		}
	}
}
