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

// TestErrorJSON checks that the JSON of an error keeps everything that is printed.
func TestErrorJSON(t *testing.T) {
	raised := &Raised{Type: "ValueError", Message: "no", Frames: []Frame{{File: "/a.py", Line: 3, Function: "f", Text: "x"}}, Cause: &Raised{Type: "KeyError", Message: "'a'"}}
	for name, e := range map[string]*Error{
		"plain":   {Kind: Usage, Err: errors.New("what <is> this")},
		"raised":  {Kind: Failed, Hook: "h", Begun: true, Python: raised, Err: errors.New("ValueError: no"), Hints: []schema.Hint{schema.Hintf("one"), schema.Hintf("two")}},
		"request": {Kind: Request, Reason: "no-hook", Hook: "h", Place: "$.items[3]", Err: errors.New("no such hook"), Plugin: "greeter.py (python 3.12.4, .venv)"},
		"crash": {Kind: Crash, Hook: "h", Begun: true, Err: errors.New("the plugin exited"), At: raised.Frames,
			Exit: &Exit{Code: -1, Signal: "SIGKILL", OutOfMemory: true, Uptime: 1500 * time.Millisecond, Stderr: []string{"a", ""}, Stacks: []string{"  File"}}},
		"exit 0":    {Kind: Start, Err: errors.New("exited"), Exit: &Exit{Uptime: 12 * time.Microsecond, Limit: "memory limit of 200 MB"}},
		"status":    {Kind: Failed, Err: errors.New("NOT_FOUND: gone"), Status: &RPCStatus{Code: "NOT_FOUND", Details: []json.RawMessage{json.RawMessage(`{"@type":"x"}`)}}},
		"handshake": {Kind: Handshake, Err: errors.New("field 5"), Drawing: []string{"1|1", "  ^"}, Tried: []string{"a", "b"}},
	} {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(name, err)
		}
		var back Error
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(name, err)
		}
		if !reflect.DeepEqual(&back, e) {
			t.Errorf("%s:\n%s\ngot  %+v\nwant %+v", name, text, back, *e)
		}
	}
}

// TestErrorJSONBytes checks that bytes that are not UTF-8 are replaced, because JSON cannot contain
// them.
func TestErrorJSONBytes(t *testing.T) {
	text, err := json.Marshal(&Error{Kind: Crash, Err: errors.New("caf\xe9"), Exit: &Exit{Stderr: []string{"\xff<b>"}}})
	want := `{"kind":"crash","message":"caf\ufffd","sent":false,"exit":{"code":0,"after_ms":0,"stderr":["\ufffd\u003cb\u003e"]}}`
	if err != nil || string(text) != want {
		t.Errorf("got  %s %v\nwant %s", text, err, want)
	}
}

// TestNewError checks that NewError copies the details of an error anywhere in the chain.
func TestNewError(t *testing.T) {
	inner := &Error{Kind: Handshake, Err: errors.New("x"), Reason: "r", Hints: schema.Hints("do it right"), Drawing: []string{"^"}}
	got := NewError(Request, errors.Join(errors.New("first"), inner))
	if got.Kind != Request || got.Reason != "r" || !reflect.DeepEqual(got.Hints, inner.Hints) || !reflect.DeepEqual(got.Drawing, inner.Drawing) {
		t.Errorf("got %+v", got)
	}
	if bad := NewError(Request, fmt.Errorf("x: %w", schema.BadValue("a", "b", "c", inner.Hints...))); bad.Place != "a" || !reflect.DeepEqual(bad.Hints, inner.Hints) {
		t.Errorf("got %+v", bad)
	}
	if none := NewError(Request, &schema.NoHookError{Hook: "greeet", Known: []string{"greet"}}); none.Reason != "no-hook" || len(none.Hints) != 1 {
		t.Errorf("got %+v", none)
	}
	if AsError(nil) != nil || AsError(got) != got || AsError(errors.New("x")).Kind != Internal {
		t.Error("AsError")
	}
}
