package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/schema"
)

// drawn is an error that draws where it is.
type drawn struct{}

func (drawn) Error() string     { return "field 5 is wrong" }
func (drawn) Drawing() []string { return []string{"1|1|tcp|x|netrpc", "         ^^^^^^"} }

// Every error comes through as it was, but for its cause, whose text stays.
func TestTold(t *testing.T) {
	raised := &Raised{Type: "ValueError", Message: "no <name> é", Frames: []Frame{{File: "a.py", Line: 3, Function: "f", Text: "x = 1", Column: 2}},
		Cause: &Raised{Type: "KeyError", Message: "'k'"}, Group: []*Raised{{Type: "OSError"}}}
	for name, e := range map[string]*Error{
		"no hook":   {Kind: Request, Hook: "h", Err: &schema.NoHookError{Hook: "h", Known: []string{"a"}, Why: "`h` is imported"}},
		"argument":  {Kind: Request, Hook: "h", Err: &schema.ArgumentError{Place: "a", Problem: "a and b are missing"}},
		"word":      {Kind: Usage, Err: &schema.ArgumentError{Problem: "argument \":={\": not JSON", Err: errors.New("unexpected end")}},
		"module":    {Kind: Start, Python: raised, Err: &schema.MissingModuleError{Module: "numpy", Text: "No module named 'numpy'"}},
		"limit":     {Kind: Timeout, Hook: "h", Begun: true, At: raised.Frames, Err: &LimitError{What: "no result", Limit: time.Second}},
		"raised":    {Kind: Failed, Hook: "h", Begun: true, Python: raised},
		"status":    {Kind: Failed, Hook: "M", Status: &RPCStatus{Code: "NOT_FOUND", Message: "no key", Details: []json.RawMessage{json.RawMessage(`{"@type":"x/E","a":1}`)}}, Err: errors.New("NOT_FOUND: no key")},
		"crash":     {Kind: Crash, Hook: "h", Begun: true, Err: errors.New("the plugin ended during the call"), Exit: &Exit{Code: -1, Signal: "SIGKILL", OutOfMemory: true, Uptime: 90 * time.Second, Stderr: []string{"caf\xe9", "", "ok"}, Stacks: []string{"  File"}, Stopped: true, MaxRSS: 1 << 33, Step: "SIGTERM", Left: []string{"sleep (pid 4)"}}},
		"drawn":     {Kind: Handshake, Err: fmt.Errorf("the line: %w", drawn{}), Tried: []string{"a", "b\xff"}},
		"kind only": {Kind: Canceled},
	} {
		text, err := json.Marshal(Tell(fmt.Errorf("wrapped: %w", e)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var told Told
		if err := json.Unmarshal(text, &told); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := told.Error()
		if got.Error() != e.Error() {
			t.Errorf("%s: got %q, want %q", name, got.Error(), e.Error())
		}
		var want, have interface{ Drawing() []string }
		if errors.As(e.Err, &want) && (!errors.As(got.Err, &have) || !reflect.DeepEqual(have.Drawing(), want.Drawing())) {
			t.Errorf("%s: drawn as %v", name, have)
		}
		plain, same := *e, *got
		plain.Err, same.Err = nil, nil
		if !reflect.DeepEqual(plain, same) {
			t.Errorf("%s: got %+v, want %+v", name, same, plain)
		}
	}
}

// What an error was told with stays with it, however often it is told.
func TestToldAgain(t *testing.T) {
	first := Tell(errors.New("a bug"))
	first.Hints, first.Context = []string{"report it"}, []string{"plugin: a.py"}
	again := Tell(first.Error())
	if !reflect.DeepEqual(again, first) || again.Kind != "internal" {
		t.Errorf("got %+v, want %+v", again, first)
	}
	if got := (Told{Kind: "strange", Text: "x"}).Error(); got.Kind != Internal {
		t.Errorf("a strange kind is %v", got.Kind)
	}
}

// Every kind comes through.
func TestToldKinds(t *testing.T) {
	for _, k := range Kinds() {
		if got := Tell(&Error{Kind: k}).Error().Kind; got != k {
			t.Errorf("%v came as %v", k, got)
		}
	}
}
