package runner

import (
	"encoding/json"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

func TestCarriedError(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{`{"error":"no room"}`, "no room"},
		{`{"error":{"message":"no room","code":3}}`, "no room"},
		{`{"error":{"code":3}}`, `{"code":3}`},
		{`{"error":true}`, "true"},
		{`{"error":0}`, "0"},
		{`{"error":null}`, ""},
		{`{"error":""}`, ""},
		{`{"error":false}`, ""},
		{`{"other":1}`, ""},
		{`[1,2]`, ""},
		{`"error"`, ""},
	} {
		got := ""
		if err := carriedError("h", hook.Item{Value: json.RawMessage(c.value)}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.value, got, c.want)
		}
	}
}
