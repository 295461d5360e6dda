package pyworker_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// TestForeignText checks that arguments that were not parsed before cannot end the worker or call
// another hook.
func TestForeignText(t *testing.T) {
	inst, err := launcher(t, zoo(t, "conformance.py")).Launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = inst.Stop(t.Context()) }()
	const smuggled = `,"hook":"fail","x":[`
	for text, want := range map[string]string{
		`[1`: "the arguments are not JSON: byte 3: ", `[a]`: "the arguments are not JSON: byte 2: ", `a`: "the arguments are not JSON: byte 1: ",
		`["a"]` + smuggled + `1]`: "the arguments are not JSON: byte 6: ", "[\"\xff\"]": "the arguments are not UTF-8: byte 3 is 0xff",
		`[NaN]`: "the arguments are not JSON: byte 2: ", `7`: "the arguments are 7, expected a JSON object (names) or array (positions)",
	} {
		_, err := inst.Call(t.Context(), hook.Call{Hook: "echo", Args: hook.Args{JSON: json.RawMessage(text)}})
		wantRequest(t, text, err, want)
	}
	for text, want := range map[string]string{
		`a`: `argument ":=a": not JSON`, ``: `argument ":=": not JSON`, `1}]` + smuggled + `{"value":1`: `argument ":=1}],\"hook\"`, "\xff": `argument ":=\xff": not JSON`,
	} {
		words := []schema.Word{{Form: schema.Plain, Value: "a"}, {Form: schema.JSON, Value: text, Typed: ":=" + text}}
		_, err := inst.Call(t.Context(), hook.Call{Hook: "echo", Args: hook.Args{Words: words}})
		wantRequest(t, text, err, want)
	}
	r, err := inst.Call(t.Context(), hook.Call{Hook: "echo", Args: hook.Args{JSON: json.RawMessage(`["a"]`)}})
	if err != nil || string(r.Value) != `"a"` {
		t.Errorf("got %s, %v", r.Value, err)
	}
}

func wantRequest(t *testing.T, text string, err error, want string) {
	t.Helper()
	if e := (*hook.Error)(nil); !errors.As(err, &e) || e.Kind != hook.Request || e.Begun || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%q: %v, want %s", text, err, want)
	}
}
