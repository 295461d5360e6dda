package cases

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
	"github.com/pyplug/pyplug/runner/schema"
)

// placesOf returns the places where two JSON values differ.
func placesOf(wanted, got string, some bool, of *messages) string {
	var places []string
	for _, d := range differences(decode([]byte(wanted)), decode([]byte(got)), some, of) {
		places = append(places, d.Place)
	}
	return strings.Join(places, " ")
}

func TestDiffer(t *testing.T) {
	for _, c := range []struct{ wanted, got, want string }{
		{`1`, `1.0`, ``},
		{`1`, `1e0`, ``},
		{`0`, `-0`, ``},
		{`1`, `2`, `$`},
		{`1`, `true`, `$`},
		{`1`, `"1"`, `$`},
		{`1`, `null`, `$`},
		{`9007199254740993`, `9007199254740992`, `$`},
		{`100000000000000000000`, `100000000000000000001`, `$`},
		{`1e400`, `1e400`, ``},
		{`1e400`, `1e401`, `$`},
		{`0.3`, `0.30000000000000004`, ``},
		{`1.0`, `1.0000000009`, ``},
		{`1.0`, `1.000000002`, `$`},
		{`0.0`, `1e-13`, ``},
		{`0.0`, `1e-11`, `$`},
		{`{"a": 1, "b": [2]}`, `{"b":[2.0],"a":1}`, ``},
		{`{"a": 1}`, `{"a":1,"b c":2}`, `$["b c"]`},
		{`{"a": 1, "b": 2}`, `{"a":1}`, `$.b`},
		{`{"a": 1, "b": [1, 2], "c": 3}`, `{"a":2,"b":[1,3],"d":4}`, `$.a $.b[1] $.c $.d`},
		{`[]`, `[1,2,3,4,5,6,7,8,9,10,11,12]`, `$[0] $[1] $[2] $[3] $[4] $[5] $[6] $[7] $[8] $[9]`},
		{`{"a": 0}`, `{}`, `$.a`},
		{`{"a": [1, {"b": 2}]}`, `{"a":[1,{"b":3}]}`, `$.a[1].b`},
		{`[1, 2]`, `[1]`, `$[1]`},
		{`[1]`, `[1,2]`, `$[1]`},
		{`[]`, `{}`, `$`},
		{`null`, `null`, ``},
		{`"\ud800"`, `"\ud800"`, ``},
		{`"\ud800"`, `"\uD800"`, ``},
		{`"\ud800"`, `"\udc00"`, `$`},
		{`"\ud83d\ude00"`, `"😀"`, ``},
		{`"\\ud800"`, `"\\ud800"`, ``},
	} {
		if got := placesOf(c.wanted, c.got, false, nil); got != c.want {
			t.Errorf("%s and %s differ at %q, want %q", c.wanted, c.got, got, c.want)
		}
	}
}

func TestContains(t *testing.T) {
	for _, c := range []struct{ wanted, got, want string }{
		{`{"a": 1}`, `{"a":1,"b":2}`, ``},
		{`{"a": {"b": 1}}`, `{"a":{"b":2}}`, `$.a.b`},
		{`{"c": 1}`, `{"a":1}`, `$.c`},
		{`[1, 3]`, `[1,2,3]`, ``},
		{`[3, 1]`, `[1,2,3]`, `$[1]`},
		{`[4, 1, {"a": 5}]`, `[1,2,{"a":3}]`, `$[0] $[2]`},
		{`[1, 1]`, `[1]`, `$[1]`},
		{`[{"a": 1}]`, `[{"a":2},{"a":1,"b":0}]`, ``},
		{`[]`, `[1]`, ``},
		{`{}`, `1`, `$`},
		{`1`, `1`, ``},
		{`1`, `[1]`, `$`},
	} {
		if got := placesOf(c.wanted, c.got, true, nil); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.wanted, c.got, got, c.want)
		}
	}
}

// valueOf returns an answer with a result, which is JSON or bytes.
func valueOf(text string, binary bool) answer {
	return answer{Answer: lines.Answer{Item: hook.Item{Value: json.RawMessage(text), Binary: binary}}}
}

func TestCheck(t *testing.T) {
	value := func(text string) answer { return valueOf(text, false) }
	raised := answer{err: &hook.Error{Kind: hook.Failed, Hook: "f", Python: &hook.Raised{Type: "ValueError", Message: "no name"}}}
	status := answer{err: &hook.Error{Kind: hook.Failed, Hook: "f", Err: errors.New("gone"), Status: &hook.RPCStatus{Code: "NOT_FOUND"}}}
	own := answer{err: &hook.Error{Kind: hook.Failed, Hook: "f", Python: &hook.Raised{Type: "shop.errors.Gone", Message: "no name"}}}
	items := answer{Answer: lines.Answer{Streamed: true, Items: []hook.Item{{Value: json.RawMessage(`"a"`)}, {Value: json.RawMessage("2")}}}}
	bytes := valueOf("hi", true)
	for _, c := range []struct {
		keys string
		got  answer
		want string
	}{
		{``, value("1"), ""},
		{``, raised, "f: ValueError: no name"},
		{`, "result": 1`, value("1"), ""},
		{`, "result": 1`, items, `the call returned a stream; write "items" in place of "result"`},
		{`, "items": [1]`, value("1"), `the call returned one result; write "result" in place of "items"`},
		{`, "result": null`, value("1"), "the result differs"},
		{`, "result": {"a": 1}`, value(`{"a":2}`), "the result differs at $.a"},
		{`, "result": "aGk="`, bytes, "the result is bytes, expected text"},
		{`, "result": "aGk=", "binary": true`, bytes, ""},
		{`, "items": ["a", 2]`, items, ""},
		{`, "items": ["a"]`, items, "the result differs at $[1]"},
		{`, "match": "^a\n2$"`, items, ""},
		{`, "match": "^hi$"`, bytes, ""},
		{`, "match": "^$"`, value("null"), ""},
		{`, "match": "b"`, value(`"a"`), `the result does not match "b"`},
		{`, "contains": [2]`, items, ""},
		{`, "contains": {"a": 1}`, value(`{"a":2}`), `the result does not contain the value of "contains" at $.a`},
		{`, "contains": "b c"`, value(`"a b c"`), ""},
		{`, "contains": "d"`, value(`"a b c"`), `the result does not contain "d"`},
		{`, "contains": {"a": "b"}`, value(`{"a":"a b c"}`), `the result does not contain the value of "contains" at $.a`},
		{`, "contains": "h"`, bytes, ""},
		{`, "contains": "a"`, items, `the result does not contain the value of "contains"`},
		{`, "result": 1, "match": "2", "under": "1s"`, value("3"), "the result differs\nthe result does not match \"2\"\ntook 1s, expected less than 1s"},
		{`, "under": "1s"`, value("1"), "took 1s, expected less than 1s"},
		{`, "under": "1.1s"`, value("1"), ""},
		{`, "error": {}`, value("1"), "the call succeeded, expected an error"},
		{`, "error": {}`, raised, ""},
		{`, "error": {"kind": "hook", "type": "ValueError", "match": "^no"}`, raised, ""},
		{`, "error": {"kind": "crash"}`, raised, "the error has another kind"},
		{`, "error": {"type": "TypeError"}`, raised, "the error has another type"},
		{`, "error": {"kind": "crash", "type": "TypeError", "match": "x"}`, raised, "the error has another kind\nthe error has another type\nthe error does not match \"x\""},
		{`, "error": {"type": "Gone"}`, own, ""},
		{`, "error": "ValueError"`, raised, ""},
		{`, "error": "name"`, raised, ""},
		{`, "error": "ValueError: no name"`, raised, ""},
		{`, "error": "Error"`, raised, `the error does not match "Error"`},
		{`, "error": "TypeError"`, raised, `the error does not match "TypeError"`},
		{`, "error": "ValueError"`, value("1"), "the call succeeded, expected an error"},
		{`, "error": "NOT_FOUND"`, status, ""},
		{`, "error": "Gone"`, own, ""},
		{`, "error": {"type": "NOT_FOUND", "match": "gone"}`, status, ""},
		{`, "error": {"match": "x"}`, raised, `the error does not match "x"`},
		{`, "error": {"kind":"hook","message":"ValueError: no name","sent":true,"python":{"type":"ValueError","message":"no name"}}`, raised, ""},
		{`, "error": {"kind":"hook","message":"ValueError: other","sent":true}`, raised, "the error has another message"},
	} {
		file, err := Parse("a", []byte(`{"hook": "f"`+c.keys+"}"))
		if err != nil {
			t.Errorf("%s: %v", c.keys, err)
			continue
		}
		var all []string
		if f := casesOf(file)[0].check(c.got, time.Second); f != nil {
			for _, d := range f.Differences {
				all = append(all, d.Message)
			}
		}
		got := strings.Join(all, "\n")
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestUpdate(t *testing.T) {
	value := valueOf
	raised := answer{err: &hook.Error{Kind: hook.Failed, Python: &hook.Raised{Type: "ValueError", Message: "a.b"}}}
	for _, c := range []struct {
		line string
		got  answer
		want string
	}{
		{`  { "result" : 1 , "hook":"f"} `, value("2", false), `  { "result" : 2 , "hook":"f"} `},
		{`{"hook":"f","result":"\u00e9"}`, value("x", true), `{"hook":"f","result":"eA==","binary":true}`},
		{`{"hook":"f","result":"eA==","binary": true}`, value("y", true), `{"hook":"f","result":"eQ==","binary": true}`},
		{`{"hook":"f","result":"eA==" , "binary": true, "id":1}`, value(`"y"`, false), `{"hook":"f","result":"y" , "binary": false, "id":1}`},
		{`{"binary":true, "hook":"f","result":"eA=="}`, value(`"y"`, false), `{"binary":false, "hook":"f","result":"y"}`},
		{`{"hook":"f","result":1}`, answer{Answer: lines.Answer{Streamed: true}}, `{"hook":"f","items":[]}`},
		{`{"hook":"f","result":1}`, raised, `{"hook":"f","error":{"kind":"hook","type":"ValueError","message":"ValueError: a.b"}}`},
		{`{"hook":"f","error":{"type":"T","match":"x"}}`, raised, `{"hook":"f","error":{"type":"ValueError","match":"a\\.b"}}`},
		{`{"hook":"f","error":{"type":"T","match":"b$"}}`, raised, `{"hook":"f","error":{"type":"ValueError","match":"b$"}}`},
		{`{"hook":"f","error":{"kind":"crash"},"id":3}`, value("1", false), `{"hook":"f","result":1,"id":3}`},
		{`{"hook":"f","error":"T"}`, raised, `{"hook":"f","error":"ValueError"}`},
		{`{"hook":"f","match":"x"}`, value("1", false), ""},
		{`{"hook":"f","result":1.0,"match":"x"}`, value("1", false), ""},
		{`{"hook":"f","result":2,"match":"x"}`, value("1", false), ""},
		{`{"hook":"f","result":2,"match":"x"}`, raised, ""},
		{`{"hook":"f","result":1}`, answer{err: &hook.Error{Kind: hook.Request, Reason: "no-hook", Err: errors.New("no such hook")}}, ""},
		{`{"hook":"f","result":1}`, answer{err: &hook.Error{Kind: hook.Crash, Err: errors.New("died")}}, ""},
	} {
		file, err := Parse("a", []byte(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		one := casesOf(file)[0]
		r := &Result{Case: one, Failure: one.check(c.got, 0)}
		got := ""
		if r.updatable() {
			got = string(r.updated([]byte(c.line)))
		}
		if got != c.want {
			t.Errorf("%s became\n%s, want\n%s", c.line, got, c.want)
		}
	}
}

// TestMessages checks that in messages a field with its zero value equals an absent one. An absent
// member of a map, or of a value other than a message, is a difference.
func TestMessages(t *testing.T) {
	of := messagesOf(schema.Hook{Name: "S/M", Returns: "p.R{n: int32, counts: map<string, int32>, kind: enum p.K (NONE, SOME), in: message p.In}",
		Messages: []schema.Message{{Name: "p.In", Fields: []schema.Param{{Name: "state", Type: "enum p.S (OFF, ON)"}, {Name: "any", Type: "message google.protobuf.Struct"}}}}})
	for _, c := range []struct{ wanted, got, want string }{
		{`{"n": 0, "text": "", "long": "0", "on": false, "list": [], "in": {}, "none": null, "kind": "NONE"}`, `{}`, ``},
		{`{}`, `{"n":0,"kind":"NONE"}`, ``},
		{`{"n": 1, "kind": "SOME"}`, `{}`, `$.kind $.n`},
		{`{}`, `{"n":1}`, `$.n`},
		{`[{}, {"n": 0}]`, `[{},{}]`, ``},
		{`{"in": {"state": "OFF"}}`, `{"in":{}}`, ``},
		{`{"in": {"any": {"x": 0}}}`, `{"in":{"any":{}}}`, `$.in.any.x`},
		{`{"counts": {"a": 0}}`, `{"counts":{}}`, `$.counts.a`},
		{`{"counts": {}}`, `{}`, ``},
	} {
		if got := placesOf(c.wanted, c.got, false, of); got != c.want {
			t.Errorf("%s and %s differ at %q, want %q", c.wanted, c.got, got, c.want)
		}
	}
	if messagesOf(schema.Hook{Name: "f", Returns: "{}"}) != nil || messagesOf(schema.Hook{Name: "S/M", Returns: "google.protobuf.Struct"}) != nil {
		t.Error("a value that is no message is one")
	}
}
