package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/mcp"
)

// TestRefusals checks that the rules name the client that rejects a schema, and the place.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ properties, want string }{
		"nothing":                  {`{"a":{"type":"integer"},"b_1":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}}`, ""},
		"a list without items":     {`{"a":{"type":"object","properties":{"b":{"type":"array"}}}}`, "Gemini, OpenAI and VS Code a.b: a list without items"},
		"items that are no schema": {`{"a":{"type":"array","prefixItems":[{"type":"string"}],"items":false}}`, "Gemini, OpenAI and VS Code a: a list without items"},
		"items without a type":     {`{"a":{"type":"array","items":{}}}`, "Gemini a[]: a value without a type"},
		"no type":                  {`{"a":{},"b":{"description":"any"}}`, "Gemini a: a value without a type|Gemini b: a value without a type"},
		"an enum without a type":   {`{"a":{"anyOf":[{"enum":["x"]},{"type":"null"}]}}`, "Gemini a: an enum without a type"},
		"several types":            {`{"a":{"type":["string","null"]}}`, "Gemini a: several types"},
		"numbers in an enum":       {`{"a":{"type":"object","additionalProperties":{"type":"integer","enum":[1]}}}`, "Gemini's older API a.*: an enum with other values than text"},
		"other keys":               {`{"a":{"type":"string","const":"x"},"b":{"type":"object","propertyNames":{}}}`, "Gemini a: const|Gemini b: propertyNames"},
		"a reference":              {`{"a":{"$ref":"#/$defs/A"}}`, "Copilot CLI and Gemini's older API a: a $ref"},
		"a name":                   {`{"a b":{"type":"string"},"` + strings.Repeat("x", 65) + `":{"type":"string"}}`, "Claude a b: a name with|Claude xxx"},
	} {
		tool := mcp.Tool{Input: json.RawMessage(`{"type":"object","properties":` + c.properties + `}`)}
		var got []string
		for _, r := range tool.Refusals() {
			got = append(got, r.Client+" "+r.Problem)
		}
		if want := strings.Split(c.want, "|"); len(got) != len(want) && c.want != "" || c.want == "" && got != nil || !slices.EqualFunc(got, want[:len(got)], strings.HasPrefix) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	for input, want := range map[string]string{
		`{"type":"object"}`: "OpenAI the arguments: an object without properties",
		`{"type":"object","properties":{},"oneOf":[{}]}`:                                  "Claude the arguments: oneOf at the top",
		`{"type":"object","properties":{},"$defs":{"A":{"properties":{},"enum":[true]}}}`: "Gemini A: an enum without a type",
	} {
		got := mcp.Tool{Input: json.RawMessage(input)}.Refusals()
		if len(got) == 0 || got[0].Client+" "+got[0].Problem != want {
			t.Errorf("%s: got %+v, want %s", input, got, want)
		}
	}
}
