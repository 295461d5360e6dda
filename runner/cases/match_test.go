package cases

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/lines"
)

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
		got := ""
		if d := differ("$", decode([]byte(c.wanted)), decode([]byte(c.got)), false); d != nil {
			got = d.Place
		}
		if got != c.want {
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
		{`[1, 1]`, `[1]`, `$[1]`},
		{`[{"a": 1}]`, `[{"a":2},{"a":1,"b":0}]`, ``},
		{`[]`, `[1]`, ``},
		{`{}`, `1`, `$`},
		{`1`, `1`, ``},
		{`1`, `[1]`, `$`},
	} {
		got := ""
		if d := differ("$", decode([]byte(c.wanted)), decode([]byte(c.got)), true); d != nil {
			got = d.Place
		}
		if got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.wanted, c.got, got, c.want)
		}
	}
}

// valueOf is an answer with a result: JSON, or bytes.
func valueOf(text string, binary bool) answer {
	return answer{Answer: lines.Answer{Item: hook.Item{Value: json.RawMessage(text), Binary: binary}}}
}

func TestCheck(t *testing.T) {
	value := func(text string) answer { return valueOf(text, false) }
	raised := answer{err: &hook.Error{Kind: hook.Failed, Hook: "f", Python: &hook.Raised{Type: "ValueError", Message: "no name"}}}
	status := answer{err: &hook.Error{Kind: hook.Failed, Hook: "f", Err: errors.New("gone"), Status: &hook.RPCStatus{Code: "NOT_FOUND"}}}
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
		{`, "result": 1`, items, "the call returned a stream, want a result"},
		{`, "result": null`, value("1"), "the result differs"},
		{`, "result": {"a": 1}`, value(`{"a":2}`), "the result differs at $.a"},
		{`, "result": "aGk="`, bytes, "the result is bytes, want text"},
		{`, "result": "aGk=", "binary": true`, bytes, ""},
		{`, "items": ["a", 2]`, items, ""},
		{`, "items": ["a"]`, items, "the result differs at $[1]"},
		{`, "match": "^a\n2$"`, items, ""},
		{`, "match": "^hi$"`, bytes, ""},
		{`, "match": "^$"`, value("null"), ""},
		{`, "match": "b"`, value(`"a"`), `the result does not match "b"`},
		{`, "contains": [2]`, items, ""},
		{`, "contains": {"a": 1}`, value(`{"a":2}`), "the result does not contain what it should at $.a"},
		{`, "under": "1s"`, value("1"), "took 1s, want less than 1s"},
		{`, "under": "1.1s"`, value("1"), ""},
		{`, "error": {}`, value("1"), "the call succeeded, want an error"},
		{`, "error": {}`, raised, ""},
		{`, "error": {"kind": "hook", "type": "ValueError", "match": "^no"}`, raised, ""},
		{`, "error": {"kind": "crash"}`, raised, "the error has another kind"},
		{`, "error": {"type": "TypeError"}`, raised, "the error has another type"},
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
		got := ""
		if f := casesOf(file)[0].check(c.got, time.Second); f != nil {
			got = f.Message
		}
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
		{`{"hook":"f","match":"x"}`, value("1", false), ""},
		{`{"hook":"f","result":1.0,"match":"x"}`, value("1", false), ""},
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
