package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzMembers checks that Members yields the members of any object.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`"\u12"`, `["\x", "a\u0061b", "`, "[\"\x00\"]", `{"a": [1, -0.5e+3, "\u00e9\\\"", true, false, null], "b\n" : {}}`, `{}`, `{ }`, `{"a":{"b":[{},{}]},"c" : "}" }`, `{"\"":"\\", ",":":"}`,
		`["0123456789abcdef"]`, "[\"0123456789\x1f12345678\"]", `["Grüße 😀 aus 1234567 \n 89012345678"]`, `["0123456789\q12345678"]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want map[string]json.RawMessage
		text = bytes.Trim(text, Blanks)
		if bytes.IndexByte(text, '\n') >= 0 || CheckValue(text) != nil || json.Unmarshal(text, &want) != nil || want == nil {
			return
		}
		got := map[string]json.RawMessage{}
		for key, value := range Members(text) {
			var name string
			if err := json.Unmarshal(key, &name); err != nil {
				t.Fatal(err)
			}
			got[name] = value
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	})
}
