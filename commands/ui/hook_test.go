package ui

import (
	"encoding/json"
	"testing"

	"github.com/pyplug/pyplug/runner/schema"
)

func TestHook(t *testing.T) {
	function := schema.Hook{
		Name: "deploy", Doc: "Deploy.", Documentation: "Deploy.\n\n  Twice\x1b.", Returns: "str", Template: json.RawMessage(`{"env":"prod","tags":[]}`),
		Params: []schema.Param{
			{Name: "env", Type: "Env", Required: true, Kind: schema.Ordinary, Choices: []json.RawMessage{[]byte(`"prod"`), []byte("1")}},
			{Name: "tags", Type: "list", Default: "[]", Kind: schema.NameOnly, Unresolved: "no Tag"},
		},
	}
	method := schema.Hook{
		Name: "KV/Put", Template: json.RawMessage(`{"kind":"A"}`), Returns: "kv.Out{}",
		Params:   []schema.Param{{Name: "kind", Type: "enum kv.E (A, B)", Default: "A", Kind: schema.NameOnly, Choices: []json.RawMessage{[]byte(`"A"`), []byte(`"B"`)}}},
		Messages: []schema.Message{{Name: "kv.At", Fields: []schema.Param{{Name: "n", Type: "int32", Kind: schema.NameOnly}}}},
	}
	for _, test := range []struct {
		hook schema.Hook
		json bool
		want string
	}{
		{function, false, `deploy(env: Env, *, tags: list = []) -> str

Deploy.

  Twice\x1b.

Parameters:
  env: Env  (required)
      --env VALUE or VALUE
      one of prod, 1
  tags: list = []  (not converted: no Tag)
      --tags VALUE… or tags:=JSON

Example:
  pyplug x
`},
		{method, false, `KV/Put(kind: kv.E (A, B)) -> kv.Out

Fields:
  kind: enum kv.E
      --kind VALUE
      one of A, B

Message kv.At:
  n: int32

Request as JSON, for --input:
  {
    "kind": "A"
  }

Example:
  pyplug x
`},
		{method, true, `{"schema":1,"hooks":[{"name":"KV/Put","params":[{"name":"kind","type":"enum kv.E (A, B)","required":false,"default":"A",` +
			`"kind":"name","choices":["A","B"],"words":["--kind VALUE"]}],"returns":"kv.Out{}","messages":[{"name":"kv.At","fields":[{"name":"n","type":"int32",` +
			`"required":false,"kind":"name"}]}],"template":{"kind":"A"}}],"example":"pyplug x"}` + "\n"},
	} {
		s, out, _ := testStreams("")
		if err := s.Hook(test.hook, "pyplug x", test.json); err != nil || out.String() != test.want {
			t.Errorf("got\n%s\n%v, want\n%s", out, err, test.want)
		}
	}
}
