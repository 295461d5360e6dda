package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook/wire"
)

func TestSetColor(t *testing.T) {
	tests := []struct {
		mode, env string
		out, err  bool // whether each stream has colors; only standard error is a terminal
	}{
		{"auto", "", false, true},
		{"always", "NO_COLOR=1 TERM=dumb", true, true},
		{"never", "FORCE_COLOR=1", false, false},
		{"auto", "FORCE_COLOR=1 NO_COLOR=1", true, true},
		{"auto", "CLICOLOR_FORCE=1 TERM=dumb", true, true},
		{"auto", "FORCE_COLOR=0 CLICOLOR_FORCE=0", false, true},
		{"auto", "NO_COLOR=0", false, false},
		{"auto", "TERM=dumb", false, false},
		{"auto", "TERM=xterm", false, true},
	}
	for _, test := range tests {
		s, _, _ := testStreams("")
		s.ErrTTY = true
		s.Getenv = func(name string) string {
			for pair := range strings.FieldsSeq(test.env) {
				if value, ok := strings.CutPrefix(pair, name+"="); ok {
					return value
				}
			}
			return ""
		}
		s.SetColor(test.mode)
		if s.outColor != test.out || s.screen.color != test.err {
			t.Errorf("%s, %s: got %v, %v, want %v, %v", test.mode, test.env, s.outColor, s.screen.color, test.out, test.err)
		}
		if painted := shown(s.outColor, Paint(Green, "ok")) != "ok"; painted != test.out {
			t.Errorf("%s, %s: painted %v", test.mode, test.env, painted)
		}
	}
}

func TestLog(t *testing.T) {
	log := func(s *Streams) {
		s.Now = clock
		s.Log("info", "ready", "pid", 42, "after", 1500*time.Millisecond, "why", "a b\x1b", "none", "")
		s.Log("debug", "wire: ##[x]", "error", errors.New("no"), "ok", true, "alone")
		s.Warn("careful")
		s.Note("by the way")
		s.Aside("as usual")
	}
	tests := []struct {
		name string
		set  func(*Streams)
		want string
	}{
		{"plain", func(*Streams) {}, "pyplug | 03:04:05.067 debug: wire: #\\#[x] error=no ok=true\nwarning: careful\nnote: by the way\n"},
		{"terminal", func(s *Streams) { s.ErrTTY = true; s.SetColor("auto") }, "pyplug | 03:04:05.067 debug: wire: #\\#[x] error=no ok=true\n" +
			"\x1b[33mwarning:\x1b[0m careful\n\x1b[36mnote:\x1b[0m by the way\n\x1b[2mas usual\x1b[22m\n"},
		{"terminal without colour", func(s *Streams) { s.ErrTTY = true; s.SetColor("never") },
			"pyplug | 03:04:05.067 debug: wire: #\\#[x] error=no ok=true\nwarning: careful\nnote: by the way\nas usual\n"},
		{"quiet and verbose", func(s *Streams) { s.Quiet, s.Verbose = true, true },
			"pyplug | 03:04:05.067 ready pid=42 after=1.5s why=\"a b\\x1b\" none=\"\"\npyplug | 03:04:05.067 debug: wire: #\\#[x] error=no ok=true\n"},
		{"JSON", func(s *Streams) { s.LogJSON, s.Verbose = true, true },
			`{"time":"2024-01-02T03:04:05.067Z","level":"info","message":"ready","pid":42,"after_ms":1500,"why":"a b\u001b","none":""}
{"time":"2024-01-02T03:04:05.067Z","level":"debug","message":"wire: \u0023#[x]","error":"no","ok":true}
{"time":"2024-01-02T03:04:05.067Z","level":"warning","message":"careful"}
{"time":"2024-01-02T03:04:05.067Z","level":"note","message":"by the way"}
`},
	}
	for _, test := range tests {
		s, out, errs := testStreams("")
		test.set(s)
		log(s)
		if got := errs.String(); got != test.want || out.Len() > 0 {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
	s, _, errs := testStreams("")
	s.LogJSON, s.Now = true, clock
	s.Fail(t.Context(), failures()["exit"])
	want := `{"time":"2024-01-02T03:04:05.067Z","level":"error","message":"start: the plugin ended before it was ready","error":{"kind":"start","message":"the plugin ended before it was ready","sent":false,"exit":{"code":0,"after_ms":212}}}` + "\n"
	if got := errs.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLogLine(t *testing.T) {
	at := clock()
	local := at.Local().Format("2006-01-02 15:04:05.000")
	for _, c := range []struct {
		at           time.Time
		stream, text string
		json         bool
		want         string
	}{
		{at, "stderr", "a\x1b[31mred", false, local + ` greeter | a\x1b[31mred` + "\n"},
		{at, "pyplug", "ready: it started", false, local + " pyplug | ready: it started\n"},
		{time.Time{}, "", "panic: no", false, "panic: no\n"},
		{at, "stdout", "hello \"x\"", true, `{"schema":1,"time":"` + at.Local().Format(wire.Time) + `","plugin":"greeter","generation":2,"stream":"stdout","line":"hello \"x\""}` + "\n"},
		{time.Time{}, "", "panic: no", true, `{"schema":1,"plugin":"greeter","generation":2,"line":"panic: no"}` + "\n"},
	} {
		s, out, _ := testStreams("")
		if err := s.LogLine("greeter", false, c.at, 2, c.stream, c.text, c.json); err != nil || out.String() != c.want {
			t.Errorf("%q: got\n%s\n%v, want\n%s", c.text, out, err, c.want)
		}
	}
}
