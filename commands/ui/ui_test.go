package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

func TestSetColor(t *testing.T) {
	tests := []struct {
		mode, env string
		out, err  bool // on a terminal for standard error alone
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
		s, _, _ := Test("")
		s.ErrTTY = true
		s.Getenv = func(name string) string {
			for pair := range strings.FieldsSeq(test.env) {
				if value, ok := strings.CutPrefix(pair, name+"="); ok {
					return value
				}
			}
			return ""
		}
		if err := s.SetColor(test.mode); err != nil {
			t.Fatal(err)
		}
		if s.outColor != test.out || s.errColor != test.err {
			t.Errorf("%s, %s: got %v, %v, want %v, %v", test.mode, test.env, s.outColor, s.errColor, test.out, test.err)
		}
		if painted := s.PaintOut(Green, "ok") != "ok"; painted != test.out {
			t.Errorf("%s, %s: painted %v", test.mode, test.env, painted)
		}
	}
	s, _, _ := Test("")
	if err := s.SetColor("sometimes"); err == nil || err.Error() != `color is "sometimes", want auto, always or never` {
		t.Errorf("got %v", err)
	}
}

func TestLog(t *testing.T) {
	log := func(s *Streams) {
		s.Now = clock
		s.Log("info", "ready", "pid", 42, "after", 1500*time.Millisecond, "why", "a b\x1b", "none", "")
		s.Log("debug", "wire: ##[x]", "error", errors.New("no"), "ok", true, "alone")
		s.Warn("careful")
		s.Note("by the way")
	}
	tests := []struct {
		name string
		set  func(*Streams)
		want string
	}{
		{"plain", func(*Streams) {}, "pyplug | 03:04:05.067 debug: wire: #\\#[x] error=no ok=true\nwarning: careful\nnote: by the way\n"},
		{"quiet and verbose", func(s *Streams) { s.Quiet, s.Verbose = true, true },
			"pyplug | 03:04:05.067 ready pid=42 after=\"1.5 s\" why=\"a b\\x1b\" none=\"\"\npyplug | 03:04:05.067 debug: wire: #\\#[x] error=no ok=true\n"},
		{"JSON", func(s *Streams) { s.LogJSON, s.Verbose = true, true },
			`{"time":"2024-01-02T03:04:05.067Z","level":"info","message":"ready","pid":42,"after_ms":1500,"why":"a b\u001b","none":""}
{"time":"2024-01-02T03:04:05.067Z","level":"debug","message":"wire: \u0023#[x]","error":"no","ok":true}
{"time":"2024-01-02T03:04:05.067Z","level":"warning","message":"careful"}
{"time":"2024-01-02T03:04:05.067Z","level":"note","message":"by the way"}
`},
	}
	for _, test := range tests {
		s, out, errs := Test("")
		test.set(s)
		log(s)
		if got := errs.String(); got != test.want || out.Len() > 0 {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
	s, _, errs := Test("")
	s.LogJSON, s.Now = true, clock
	s.Fail(failures()["exit"])
	want := `{"time":"2024-01-02T03:04:05.067Z","level":"error","message":"start: the plugin ended before it was ready","error":{"kind":"start","message":"the plugin ended before it was ready","sent":false,"exit":{"code":0,"after_ms":212},"status":"UNAVAILABLE"}}` + "\n"
	if got := errs.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestHooks(t *testing.T) {
	no := false
	sch := schema.Schema{Hooks: []schema.Hook{
		{Name: "greet", Doc: "Says <hello>\x1b.", Returns: "str", Params: []schema.Param{{Name: "name", Type: "str", Required: true, Kind: schema.Ordinary}}},
		{Name: "bare"},
		{Name: "a_hook_with_a_name_that_is_longer_than_what_sets_the_column", Doc: "Long."},
		{Name: "größe", Doc: "Größe.", Implemented: &no},
	}}
	text := "greet(name: str) -> str  Says <hello>\\x1b.\nbare()\na_hook_with_a_name_that_is_longer_than_what_sets_the_column()  Long.\ngröße()                  (not implemented) Größe.\n"
	object := `{"schema":1,"hooks":[{"name":"greet","doc":"Says <hello>\u001b.","params":[{"name":"name","type":"str","required":true,"kind":"ordinary"}],"returns":"str"},` +
		`{"name":"bare","params":[]},{"name":"a_hook_with_a_name_that_is_longer_than_what_sets_the_column","doc":"Long.","params":[]},{"name":"größe","doc":"Größe.","implemented":false,"params":[]}]}` + "\n"
	for jsonFace, want := range map[bool]string{false: text, true: object} {
		s, out, _ := Test("")
		s.OutTTY = true
		if err := s.Hooks(sch, jsonFace); err != nil || out.String() != want {
			t.Errorf("got\n%s\n%v, want\n%s", out, err, want)
		}
	}
	s, out, _ := Test("")
	if err := s.Hooks(schema.Schema{}, true); err != nil || out.String() != `{"schema":1,"hooks":[]}`+"\n" {
		t.Errorf("got %s, %v for no hooks", out, err)
	}
}

func TestVerdicts(t *testing.T) {
	s, out, _ := Test("")
	info := hook.Info{PID: 7, Python: "3.12.4"}
	for _, err := range []error{
		s.Healthy(1250*time.Microsecond, info, false), s.Healthy(1250*time.Microsecond, info, true),
		s.Version("1.2", "go1.26", "linux/amd64", "", false), s.Version("1.2", "go1.26", "linux/amd64", "no guard", false),
		s.Version("1.2", "go1.26", "linux/amd64", "no guard", true),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := `healthy
{"schema":1,"healthy":true,"took_ms":1.25,"pid":7,"python":"3.12.4"}
pyplug 1.2 (go1.26, linux/amd64)
pyplug 1.2 (go1.26, linux/amd64)
no guard
{"schema":1,"version":"1.2","go":"go1.26","platform":"linux/amd64","lacks":"no guard"}
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		20 * time.Microsecond: "20 µs", 999 * time.Millisecond: "999 ms", 2*time.Second + 99*time.Millisecond: "2 s",
		59990 * time.Millisecond: "59.9 s", 200 * time.Second: "3 min 20 s", 90 * time.Minute: "1 h 30 min",
	} {
		if got := span(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
