package ui

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

func TestHooks(t *testing.T) {
	sch := schema.Schema{Hooks: []schema.Hook{
		{Name: "greet", Doc: "Says <hello>\x1b.", Returns: "str", Params: []schema.Param{{Name: "name", Type: "str", Required: true, Kind: schema.Ordinary}}},
		{Name: "bare", Params: []schema.Param{}},
		{Name: "a_hook_with_a_name_that_is_longer_than_what_sets_the_column", Doc: "Long.", Params: []schema.Param{}},
		{Name: "größe", Doc: "Größe.", Params: []schema.Param{}},
	}}
	text := "greet(name: str) -> str  Says <hello>\\x1b.\nbare()\na_hook_with_a_name_that_is_longer_than_what_sets_the_column()\n                         Long.\ngröße()                  Größe.\n"
	object := `{"schema":1,"hooks":[{"name":"greet","doc":"Says <hello>\u001b.","params":[{"name":"name","type":"str","required":true,"kind":"ordinary"}],"returns":"str"},` +
		`{"name":"bare","params":[]},{"name":"a_hook_with_a_name_that_is_longer_than_what_sets_the_column","doc":"Long.","params":[]},{"name":"größe","doc":"Größe.","params":[]}]}` + "\n"
	for asJSON, want := range map[bool]string{false: text, true: object} {
		s, out, _ := testStreams("")
		s.OutTTY = true
		if err := s.Hooks(sch, asJSON); err != nil || out.String() != want {
			t.Errorf("got\n%s\n%v, want\n%s", out, err, want)
		}
	}
	s, out, _ := testStreams("")
	if err := s.Hooks(schema.Schema{Hooks: []schema.Hook{}}, true); err != nil || out.String() != `{"schema":1,"hooks":[]}`+"\n" {
		t.Errorf("got %s, %v for no hooks", out, err)
	}
}

// TestHooksNarrow checks that on a narrow terminal documentation wraps in its column, or below a
// long signature.
func TestHooksNarrow(t *testing.T) {
	doc := "Says hello to a person by name"
	sch := schema.Schema{Hooks: []schema.Hook{{Name: "greet", Doc: doc}, {Name: "greet_by_a_name_so_long_that_it_is_a_line", Doc: doc}}}
	for width, want := range map[int]string{
		0:  "greet()                                      " + doc + "\ngreet_by_a_name_so_long_that_it_is_a_line()  " + doc + "\n",
		71: "greet()                                      Says hello to a person by\n" + strings.Repeat(" ", 45) + "name\ngreet_by_a_name_so_long_that_it_is_a_line()  Says hello to a person by\n" + strings.Repeat(" ", 45) + "name\n",
		50: "greet()\n    " + doc + "\ngreet_by_a_name_so_long_that_it_is_a_line()\n    " + doc + "\n",
	} {
		if got := listing(sch.Hooks, width); got != want {
			t.Errorf("width %d: got\n%swant\n%s", width, got, want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	s, out, _ := testStreams("")
	info := hook.Info{PID: 7, Python: "3.12.4"}
	for _, err := range []error{
		s.Healthy("", 1250*time.Microsecond, info, false), s.Healthy("", 1250*time.Microsecond, info, true),
		s.Facts("pyplug 1.2", []Fact{{"version", "1.2"}}, []Fact{{"lacks", ""}}, false),
		s.Facts("pyplug 1.2", []Fact{{"version", "1.2"}}, []Fact{{"lacks", "no guard"}, {"log_directory", "/x"}}, false),
		s.Facts("pyplug 1.2", []Fact{{"version", "1.2"}}, []Fact{{"lacks", "no guard"}}, true),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := `healthy
{"schema":1,"healthy":true,"took_ms":1.25,"pid":7,"python":"3.12.4"}
pyplug 1.2
pyplug 1.2
lacks          no guard
log directory  /x
{"schema":1,"version":"1.2","lacks":"no guard"}
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestIndented(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		s, out, _ := testStreams("")
		s.OutTTY = terminal
		want := "{\n  \"key\": \"\\u009b\",\n  \"n\": 0\n}\n"
		if err := s.Indented(json.RawMessage("{\"key\":\"\u009b\",\"n\":0}")); err != nil || out.String() != want {
			t.Errorf("terminal %v: got %q, %v, want %q", terminal, out, err, want)
		}
	}
}

func TestHealth(t *testing.T) {
	away := &hook.Error{Kind: hook.Unhealthy, Err: errors.New("the base\nis away\x1b")}
	const start = `{"schema":1,"time":"2024-01-02T03:04:05.067Z",`
	for _, test := range []struct {
		probe       *hook.Error
		line, shape string
	}{
		{nil, "healthy", `"healthy":true}`},
		{away, `unhealthy  the base is away\x1b`, `"healthy":false,"reason":"the base\nis away\u001b"}`},
	} {
		for asJSON, want := range map[bool]string{false: test.line, true: start + test.shape} {
			s, out, _ := testStreams("")
			s.OutTTY, s.Now = true, clock
			if err := s.Health(test.probe, asJSON); err != nil || out.String() != want+"\n" {
				t.Errorf("%v: got %q, %v, want %q", test.probe, out, err, want)
			}
		}
	}
	s, out, _ := testStreams("")
	s.outColor = true
	s.Out = failing{io.ErrClosedPipe}
	if err := s.Health(nil, false); !IsClosedPipe(err) {
		t.Errorf("got %v for a reader that has gone", err)
	}
	s.Out = out
	if err := s.Health(nil, false); err != nil || out.String() != "\x1b[32mhealthy\x1b[0m\n" {
		t.Errorf("got %q, %v in colour", out, err)
	}
}
