package openapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/hook/wire"
	"github.com/pyplug/pyplug/runner/openapi"
	"github.com/pyplug/pyplug/runner/schema"
)

var options = openapi.Options{Title: "zoo", Version: "1", Statuses: map[int]string{400: "wrong arguments", 401: "no token", 422: "the hook raised", 503: "not running"}}

// list is a hook with a class that contains itself, as the worker describes it.
var list = schema.Hook{
	Name: "list", Doc: "Return it.", Documentation: "Return it.\n\nAll of it.", Params: []schema.Param{{Name: "n", Required: true, Kind: schema.Ordinary}},
	Input: json.RawMessage(`{"type":"object","properties":{"n":{"$ref":"#/$defs/Node"},"$ref":{"type":"string","default":"#/$defs/Node"}},"required":["n"],"additionalProperties":false,` +
		`"$defs":{"Node":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/Node"},{"type":"null"}]}}}}}`),
	Output: json.RawMessage(`{"type":"object","$ref":"#/$defs/Node","$defs":{"Node":{"type":"object","additionalProperties":true}}}`),
}

// read returns the document, and checks that its references lead somewhere.
func read(t *testing.T, o openapi.Options, hooks ...schema.Hook) map[string]any {
	t.Helper()
	text := openapi.Document(o, hooks)
	if again := openapi.Document(o, hooks); string(again) != string(text) {
		t.Fatalf("the document differs:\n%s\n%s", text, again)
	}
	var d map[string]any
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	checkLinks(t, d, d)
	return d
}

// checkLinks checks that each $ref outside of data leads somewhere.
func checkLinks(t *testing.T, whole map[string]any, value any) {
	t.Helper()
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			checkLinks(t, whole, one)
		}
	case map[string]any:
		for key, one := range value {
			switch ref, isText := one.(string); {
			case slices.Contains([]string{"default", "const", "enum", "examples"}, key):
			case key == "$ref" && isText:
				if at(whole, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...) == nil {
					t.Errorf("%s leads nowhere", ref)
				}
			default:
				checkLinks(t, whole, one)
			}
		}
	}
}

// at returns the value at a path, or nil.
func at(value any, path ...string) any {
	for _, key := range path {
		members, _ := value.(map[string]any)
		value = members[key]
	}
	return value
}

// wantAt checks the value at a path.
func wantAt(t *testing.T, d any, want string, path ...string) {
	t.Helper()
	got, err := json.Marshal(at(d, path...))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s:\ngot  %s\nwant %s", strings.Join(path, " "), got, want)
	}
}

func TestHook(t *testing.T) {
	d := read(t, options, list)
	op := at(d, "paths", "/hooks/list", "post")
	wantAt(t, d, `"3.1.0"`, "openapi")
	wantAt(t, d, `{"title":"zoo","version":"1"}`, "info")
	wantAt(t, op, `"list"`, "operationId")
	wantAt(t, op, `"Return it."`, "summary")
	wantAt(t, op, `"Return it.\n\nAll of it."`, "description")
	wantAt(t, op, `true`, "requestBody", "required")
	wantAt(t, op, `{"additionalProperties":false,"properties":{"$ref":{"default":"#/$defs/Node","type":"string"},"n":{"$ref":"#/components/schemas/Node"}},"required":["n"],"type":"object"}`,
		"requestBody", "content", "application/json", "schema")
	wantAt(t, op, `{"$ref":"#/components/schemas/Node_2","type":"object"}`, "responses", "200", "content", "application/json", "schema")
	wantAt(t, op, `{"$ref":"#/components/responses/422"}`, "responses", "422")
	wantAt(t, d, `{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Failure"}}},"description":"the hook raised"}`, "components", "responses", "422")
	wantAt(t, d, `{"properties":{"next":{"anyOf":[{"$ref":"#/components/schemas/Node"},{"type":"null"}]}},"type":"object"}`, "components", "schemas", "Node")
	wantAt(t, d, `null`, "security")
}

// TestResult checks that the document promises only facts about results.
func TestResult(t *testing.T) {
	const anything, lines = "application/json application/octet-stream application/x-ndjson", "application/x-ndjson"
	for _, c := range []struct {
		hook            schema.Hook
		body, want, typ string
	}{
		{schema.Hook{}, "application/json", anything, `null`},
		{schema.Hook{Returns: "Thing"}, "application/json", anything, `null`},
		{schema.Hook{Returns: "int"}, "application/json", "application/json", `"integer"`},
		{schema.Hook{Returns: "None"}, "application/json", "application/json", `"null"`},
		{schema.Hook{Returns: "bytes"}, "application/json", "application/octet-stream", `null`},
		{schema.Hook{Returns: "Point", Output: json.RawMessage(`{"type":"object"}`)}, "application/json", "application/json", `"object"`},
		{schema.Hook{Returns: "Iterator[int]", Streams: "out"}, "application/json", lines, `null`},
		{schema.Hook{Name: "KV/Get", Returns: "bytes"}, "application/json", "application/json", `null`},
		{schema.Hook{Name: "KV/Put", Streams: "in"}, lines, "application/json", `null`},
		{schema.Hook{Name: "KV/Sync", Streams: "both"}, lines, lines, `null`},
	} {
		d := read(t, options, c.hook)
		op := at(d, "paths", "/hooks/"+strings.ReplaceAll(c.hook.Name, "/", "%2F"), "post")
		if got := mediaTypes(at(op, "requestBody")); got != c.body {
			t.Errorf("%+v: the body is %s, want %s", c.hook, got, c.body)
		}
		if got := mediaTypes(at(op, "responses", "200")); got != c.want {
			t.Errorf("%+v: the result is %s, want %s", c.hook, got, c.want)
		}
		wantAt(t, op, c.typ, "responses", "200", "content", "application/json", "schema", "type")
		wantAt(t, op, `true`, "requestBody", "required")
	}
}

func mediaTypes(holder any) string {
	found, _ := at(holder, "content").(map[string]any)
	return strings.Join(slices.Sorted(maps.Keys(found)), " ")
}

// TestOperationIDs checks that an operationId is an identifier, unique, and if possible the name of
// the hook.
func TestOperationIDs(t *testing.T) {
	names := []string{"a-b", "Counter.up", "grüße", "1st", "", "a_b", "KV/Put", "pyplug_health", "{x}"}
	want := []string{"a_b_2", "Counter_up", "gr__e", "_1st", "_", "a_b", "KV_Put", "pyplug_health", "_x_"}
	paths := []string{"a-b", "Counter.up", "gr%C3%BC%C3%9Fe", "1st", "", "a_b", "KV%2FPut", "pyplug_health", "%7Bx%7D"}
	var hooks []schema.Hook
	for _, name := range names {
		hooks = append(hooks, schema.Hook{Name: name})
	}
	text := string(openapi.Document(options, hooks))
	d, last := read(t, options, hooks...), 0
	for i, path := range paths {
		wantAt(t, d, fmt.Sprintf("%q", want[i]), "paths", "/hooks/"+path, "post", "operationId")
		place := strings.Index(text, `"/hooks/`+path+`":`)
		if place <= last {
			t.Errorf("%s is not in the order of the hooks", path)
		}
		last = place
	}
	wantAt(t, d, `"pyplug_health_2"`, "paths", "/health", "get", "operationId")
}

// TestSchemas checks that schemas of any content become parts of the document.
func TestSchemas(t *testing.T) {
	for _, c := range []struct{ input, want, defs string }{
		{`true`, `true`, ``},
		{`{}`, `{}`, ``},
		{` {"type" : "object" , "default":{"$ref":"#/$defs/A"}, "const":{"$ref":1}, "enum":[{"$ref":"x"}], "examples":[{"$defs":{}}]} `,
			`{"const":{"$ref":1},"default":{"$ref":"#/$defs/A"},"enum":[{"$ref":"x"}],"examples":[{"$defs":{}}],"type":"object"}`, ``},
		{`{"properties":{"default":{"$ref":"#/$defs/A"},"$defs":{"$ref":"#/$defs/A"}},"$defs":{"A":true}}`,
			`{"properties":{"$defs":{"$ref":"#/components/schemas/A"},"default":{"$ref":"#/components/schemas/A"}}}`, `{"A":true}`},
		// names that are escaped, used by another component, or invalid for a component
		{`{"anyOf":[{"$ref":"#/$defs/Error"},{"$ref":"#/$defs/a~1b%20c"},{"$ref":"#/$defs/Größe"}],"$defs":{"Error":{},"a/b c":{},"Größe":{"items":{"$ref":"#/$defs/Error"}}}}`,
			`{"anyOf":[{"$ref":"#/components/schemas/Error_2"},{"$ref":"#/components/schemas/a_b_c"},{"$ref":"#/components/schemas/Gr__e"}]}`,
			`{"Error_2":{},"Gr__e":{"items":{"$ref":"#/components/schemas/Error_2"}},"a_b_c":{}}`},
		// nobody can follow these references
		{`{"items":{"$ref":"#/$defs/None","type":"array","$id":"x","$anchor":"y"},"not":{"$ref":"https://example.com"},"prefixItems":[{"$ref":"#"},false],"then":{"$ref":3}}`,
			`{"items":{"type":"array"},"not":{},"prefixItems":[{},false],"then":{}}`, ``},
		// a number keeps its digits
		{`{"maximum":123456789012345678901234567890}`, ``, ``},
	} {
		h := schema.Hook{Name: "a", Input: json.RawMessage(c.input)}
		d := read(t, options, h, schema.Hook{Name: "b", Input: h.Input})
		if c.want == "" {
			if text := string(openapi.Document(options, []schema.Hook{h})); !strings.Contains(text, c.input) {
				t.Errorf("%s is not in %s", c.input, text)
			}
			continue
		}
		for _, path := range []string{"/hooks/a", "/hooks/b"} {
			wantAt(t, d, c.want, "paths", path, "post", "requestBody", "content", "application/json", "schema")
		}
		added := map[string]any{}
		own := read(t, options)
		for name, one := range at(d, "components", "schemas").(map[string]any) {
			if at(own, "components", "schemas", name) == nil {
				added[name] = one
			}
		}
		got, err := json.Marshal(added)
		if err != nil || string(got) != c.defs && (c.defs != "" || len(added) > 0) {
			t.Errorf("%s: the components are %s, want %s, %v", c.input, got, c.defs, err)
		}
	}
}

// TestToken checks that requests need a token, except those for /health and /livez.
func TestToken(t *testing.T) {
	o := options
	o.Token = true
	d := read(t, o, list)
	wantAt(t, d, `[{"token":[]}]`, "security")
	wantAt(t, d, `{"token":{"scheme":"bearer","type":"http"}}`, "components", "securitySchemes")
	for path, isOpen := range map[string]bool{"/hooks": false, "/health": true, "/livez": true, "/metrics": false, "/openapi.json": false} {
		op := at(d, "paths", path, "get")
		if security := at(op, "security"); (security != nil) != isOpen || isOpen == (at(op, "responses", "401") != nil) {
			t.Errorf("%s: %v", path, op)
		}
		wantAt(t, op, `null`, "responses", "422")
	}
}

// TestError checks that the schema of errors has every member of an error.
func TestError(t *testing.T) {
	raised := hook.Raised{Type: "E", Message: "m", Frames: []hook.Frame{{File: "f", Line: 1, Function: "f", Text: "t", Column: 1, Repeated: 1, Cycle: 1}}}
	raised.Cause, raised.Group = &hook.Raised{Type: "E"}, []*hook.Raised{{Type: "E"}}
	full := hook.Error{
		Kind: hook.Crash, Reason: "r", Hook: "h", Begun: true, Python: &raised, Status: &hook.RPCStatus{Code: "c", Message: "s", Details: []json.RawMessage{[]byte("{}")}},
		At: raised.Frames, Place: "$", Unknown: "u", Word: 1, Tried: []string{"t"}, Hints: schema.Hints("do"), Drawing: []string{"d"}, Plugin: "p", Err: errors.New("m"),
		Exit: &hook.Exit{Code: 1, OutOfMemory: true, Limit: "l", Uptime: time.Second, Stderr: []string{"e"}, Stacks: []string{"s"}},
	}
	for v, i := reflect.ValueOf(full), 0; i < v.NumField(); i++ {
		if field := v.Type().Field(i); v.Field(i).IsZero() && field.Tag.Get("json") != "-" {
			t.Errorf("the test sets no %s", field.Name)
		}
	}
	text, err := hook.Marshal(wire.Failed(&full))
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	d := read(t, options)
	describes(t, d, "Failure", map[string]any{"$ref": "#/components/schemas/Failure"}, value)
	line, err := hook.Marshal(wire.Line{Item: hook.Item{Value: []byte("1"), Binary: true, Sole: "s"}, Done: true, Notes: []string{"n"}, Error: &full})
	if err != nil || json.Unmarshal(line, &value) != nil {
		t.Fatal(err)
	}
	describes(t, d, "Line", map[string]any{"$ref": "#/components/schemas/Line"}, value)
}

// describes checks that a schema has the type of a value, and a property for each of its members.
func describes(t *testing.T, d map[string]any, place string, s map[string]any, value any) {
	t.Helper()
	if ref, ok := s["$ref"].(string); ok {
		s, _ = at(d, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(map[string]any)
	}
	kinds := map[reflect.Kind]string{reflect.Map: "object", reflect.Slice: "array", reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "integer number"}
	if kind, _ := s["type"].(string); kind != "" && !strings.Contains(kinds[reflect.TypeOf(value).Kind()], kind) {
		t.Errorf("%s is %v, the schema says %s", place, value, kind)
	}
	switch value := value.(type) {
	case map[string]any:
		for key, one := range value {
			property, ok := at(s, "properties", key).(map[string]any)
			if !ok && s["properties"] != nil {
				t.Errorf("%s.%s is not in the schema", place, key)
				continue
			}
			describes(t, d, place+"."+key, property, one)
		}
	case []any:
		for _, one := range value {
			items, _ := s["items"].(map[string]any)
			describes(t, d, place+"[]", items, one)
		}
	}
}
