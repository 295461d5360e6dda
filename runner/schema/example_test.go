package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestExample checks that the example sets the required parameters with words that are read as the
// template's values, and that each parameter lists the words for it.
func TestExample(t *testing.T) {
	for _, c := range []struct{ name, params, template, example, words string }{
		{"f", `[]`, `{}`, "", ""},
		{
			"f", `[{"name":"a","type":"str","required":true,"kind":"ordinary"},{"name":"b","default":"1","kind":"ordinary"},
			{"name":"c","type":"int","required":true,"kind":"name"}]`,
			`{"a":"text","b":1,"c":1}`, "--a text --c 1", "--a VALUE|VALUE --b VALUE|VALUE --c VALUE",
		},
		{
			"f", `[{"name":"a","required":true,"kind":"position"},{"name":"b","required":true,"kind":"ordinary"},
			{"name":"r","kind":"positions"},{"name":"n","kind":"names"}]`,
			`["x=1",[1, 2]]`, `':="x=1"' 'b:=[1,2]'`, "VALUE --b VALUE…|b:=JSON VALUE… --NAME VALUE…",
		},
		{
			"f", `[{"name":"a","type":"Literal['1']","required":true,"kind":"ordinary"},{"name":"b","required":true,"kind":"name"},
			{"name":"c","type":"bytes","required":true,"kind":"ordinary"},{"name":"d","required":true,"kind":"name"}]`,
			`{"a":"1","b":{"x": 1},"c":"dGV4dA==","d":null}`, `'a:="1"' 'b:={"x":1}' --c text --d null`, "--a VALUE|VALUE b:=JSON --c VALUE|VALUE|c@=FILE --d VALUE",
		},
		{
			"KV/Put", `[{"name":"key","type":"string","kind":"name"},{"name":"n","type":"int64","kind":"name"},{"name":"on","type":"bool","flag":true,"kind":"name"},
			{"name":"value","type":"bytes","kind":"name"},{"name":"at","type":"message kv.At","kind":"name"},{"name":"other","type":"message kv.At","kind":"name"},
			{"name":"tags","type":"repeated string","kind":"name"},{"name":"m","type":"map<string, int32>","kind":"name"},
			{"name":"all","type":"repeated message kv.At","kind":"name"},{"name":"e","type":"enum kv.E (A, B)","kind":"name","choices":["A","B"]}]`,
			`{"key":"","n":"0","on":false,"value":"","at":{"x": ""},"other":null,"tags":[],"m":{},"all":[],"e":"A"}`,
			`--key text --n 1 --on --value text 'at:={"x":""}' --tags text 'm:={}' 'all:=[]' --e B`,
			"--key VALUE --n VALUE --on|--no-on --value VALUE|value@=FILE --at.FIELD VALUE…|at:=JSON --other.FIELD VALUE…|other:=JSON " +
				"--tags VALUE…|tags:=JSON --m.KEY VALUE…|m:=JSON all:=JSON --e VALUE",
		},
	} {
		h := Hook{Name: c.name, Template: json.RawMessage(c.template)}
		if err := json.Unmarshal([]byte(c.params), &h.Params); err != nil {
			t.Fatal(err)
		}
		h.Explain()
		var words []string
		for _, p := range h.Params {
			words = append(words, strings.Join(p.Words, "|"))
		}
		var quoted []string
		for _, word := range h.Example() {
			quoted = append(quoted, quotePOSIX(word))
		}
		if got := strings.Join(quoted, " "); got != c.example {
			t.Errorf("%s: got the example\n%s, want\n%s", c.template, got, c.example)
		}
		if got := strings.Join(words, " "); got != c.words {
			t.Errorf("%s: got the words\n%s, want\n%s", c.params, got, c.words)
		}
	}
}
