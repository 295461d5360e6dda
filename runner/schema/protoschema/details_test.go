package protoschema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/schema"
)

// TestDetails checks that the details of a method have its whole comment, each message once, and
// the values of enums.
func TestDetails(t *testing.T) {
	d := merge(t, compile(t, "kv.proto", `syntax = "proto3"; package kv;
		import "google/protobuf/timestamp.proto";
		enum Kind { NONE = 0; FAST = 1; }
		message At { Kind kind = 1; repeated Node nodes = 2; google.protobuf.Timestamp when = 3; }
		message Node { Node next = 1; repeated Kind kinds = 2; }
		message Entry { string key = 1; map<string, At> places = 2; }
		message Answer { Leaf leaf = 1; }
		message Leaf { bytes data = 1; }
		service KV {
		  // Put stores a value.
		  //
		  // It replaces another one.
		  rpc Put(Entry) returns (Answer);
		}`))
	m, err := d.Find("Put")
	if err != nil {
		t.Fatal(err)
	}
	h := m.Describe(schema.Query{Hook: "Put", Input: true})
	if h.Doc != "Put stores a value." || h.Documentation != "Put stores a value.\n\nIt replaces another one." {
		t.Errorf("got the documentation %q and %q", h.Doc, h.Documentation)
	}
	var got []string
	for _, message := range h.Messages {
		text := message.Name
		for _, f := range message.Fields {
			choices, _ := json.Marshal(f.Choices)
			text += " " + f.Name + string(choices)
		}
		got = append(got, text)
	}
	want := `kv.At kind["NONE","FAST"] nodesnull whennull|kv.Node nextnull kinds["NONE","FAST"]|kv.Leaf datanull`
	if strings.Join(got, "|") != want {
		t.Errorf("got\n%s, want\n%s", strings.Join(got, "|"), want)
	}
	const input = `{"$defs":{"kv.Node":{"additionalProperties":false,"properties":{"kinds":{"items":{"enum":["NONE","FAST"],"type":"string"},"type":"array"},` +
		`"next":{"$ref":"#/$defs/kv.Node"}},"type":"object"}},"additionalProperties":false,"properties":{"key":{"type":"string"},` +
		`"places":{"additionalProperties":{"additionalProperties":false,"properties":{"kind":{"enum":["NONE","FAST"],"type":"string"},` +
		`"nodes":{"items":{"$ref":"#/$defs/kv.Node"},"type":"array"},"when":{"format":"date-time","type":"string"}},"type":"object"},"type":"object"}},"type":"object"}`
	if string(h.Input) != input {
		t.Errorf("got the JSON Schema\n%s, want\n%s", h.Input, input)
	}
	if !strings.Contains(string(h.Template), `"places"`) || m.Describe(schema.Query{}).Messages != nil {
		t.Errorf("got the template %s", h.Template)
	}
}
