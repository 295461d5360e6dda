package runner

import (
	"encoding/json"
	"testing"
)

func TestCarriedError(t *testing.T) {
	for _, c := range []struct{ path, value, want string }{
		{"error", `{"error":"no room"}`, "no room"},
		{"error", `{"error":{"message":"no room","code":3}}`, "no room"},
		{"error", `{"error":{"code":3}}`, `{"code":3}`},
		{"error", `{"error":true}`, "true"},
		{"error", `{"error":0}`, "0"},
		{"status.error", `{"status":{"error":"x"}}`, "x"},
		{"items.1.error", `{"items":[{},{"error":"second"}]}`, "second"},
		{"items.7.error", `{"items":[]}`, ""},
		{"error", `{"error":null}`, ""},
		{"error", `{"error":""}`, ""},
		{"error", `{"error":false}`, ""},
		{"error", `{"other":1}`, ""},
		{"error", `[1,2]`, ""},
		{"error", `"error"`, ""},
		{"status.error", `{"status":"fine"}`, ""},
	} {
		got := ""
		if err := carriedError(c.path, "h", json.RawMessage(c.value)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s in %s: got %q, want %q", c.path, c.value, got, c.want)
		}
	}
}
