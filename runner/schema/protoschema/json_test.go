package protoschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

func TestDecodeMessageErrors(t *testing.T) {
	m := allMethod(t)
	tests := []struct{ in, want string }{
		{"{", `unexpected EOF`},
		{"[1]", `unexpected token [`},
		{"null", `unexpected token null`},
	}
	for _, test := range tests {
		_, err := DecodeMessage(m, []byte(test.in))
		var ae *schema.ArgumentError
		if want := "the request does not fit message all.All: " + test.want; !errors.As(err, &ae) || err.Error() != want || len(ae.Hints) != 1 {
			t.Errorf("%s: got %v (%+v), want %s", test.in, err, ae, want)
		}
	}
	_, err := DecodeMessage(m, []byte(`{"data":"","txet":1}`))
	if want := `txet does not fit: unknown field "txet"`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	for in, want := range map[string]string{
		`{"addresses":[{},{"x":1}]}`:        `addresses[1].x: addresses[1].x does not fit: unknown field "x"`,
		`{"address":{"zip":1e99}}`:          `address.zip: address.zip does not fit: invalid value for int32 field zip: 1e99`,
		`{"address":{"next":{"zip":{}}}}`:   `address.next.zip: address.next.zip does not fit: invalid value for int32 field zip: {`,
		`{"places":{"a":[]}}`:               `places.a: places.a does not fit: unexpected token [`,
		"{\n\"email\":\"a\",\n\"phone\":1}": `phone: phone does not fit: error parsing "phone", oneof all.All.contact is already set`,
		`{"text":"a","text":"b"}`:           `text: text does not fit: duplicate field "text"`,
		`{"bits":{"x":true}}`:               `bits.x: bits.x does not fit: invalid value for int32 key: "x"`,
	} {
		_, err := DecodeMessage(m, []byte(in))
		var ae *schema.ArgumentError
		if !errors.As(err, &ae) || ae.Place+": "+ae.Error() != want {
			t.Errorf("%s: got %+v, want %s", in, ae, want)
		}
	}
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	if _, err := DecodeMessage(m, []byte(`{"any_json":`+deep+`}`)); err == nil {
		t.Error("a very deep request is no error")
	}
}

// unknown describes only the well-known types.
var unknown *Descriptors

func TestEncodeMessage(t *testing.T) {
	m := allMethod(t)
	known, err := DecodeMessage(m, []byte(`{"any":{"@type":"a/all.Address","city":"<é>"}}`))
	if err != nil {
		t.Fatal(err)
	}
	anyOf := func(url string, content []byte) *anypb.Any { return &anypb.Any{TypeUrl: url, Value: content} }
	tests := []struct {
		name    string
		message proto.Message
		want    string
	}{
		{"empty", &emptypb.Empty{}, `{}`},
		{"any", known, `{"any":{"@type":"a/all.Address","city":"<é>"}}`},
		{"any of a well-known type", anyOf("x/google.protobuf.Int32Value", []byte{8, 5}), `{"@type":"x/google.protobuf.Int32Value","value":5}`},
		{"any empty", &anypb.Any{}, `{}`},
		{"list", &structpb.ListValue{Values: []*structpb.Value{structpb.NewNumberValue(1), structpb.NewNullValue()}}, `[1,null]`},
		{"value", structpb.NewStringValue("a: b, c"), `"a: b, c"`},
		{"duration", durationpb.New(1500e6), `"1.500s"`},
	}
	for _, test := range tests {
		before := proto.Clone(test.message)
		for range 3 {
			got, err := m.set.EncodeMessage(test.message)
			if err != nil || string(got) != test.want {
				t.Errorf("%s: got %s, %v, want %s", test.name, got, err, test.want)
			}
		}
		if !proto.Equal(before, test.message) {
			t.Errorf("%s: the message was changed", test.name)
		}
	}
	// An Any of a type that no source describes is an error with the flags that describe it.
	_, err = unknown.EncodeMessage(known)
	missing := (*hook.Error)(nil)
	if !errors.As(err, &missing) || missing.Reason != MissingImport || len(missing.Hints) != 1 || !strings.Contains(err.Error(), `unable to resolve "a/all.Address"`) {
		t.Errorf("got %v", err)
	}
	_, err = unknown.EncodeMessage(wrapperspb.String("\xff"))
	if err == nil || err.Error() != "message google.protobuf.StringValue has no JSON: field google.protobuf.StringValue.value contains invalid UTF-8" {
		t.Errorf("got %v", err)
	}
}

// keyTwice is an All whose meta has an entry with two keys of different types.
const keyTwice = "\xaa\x03\x10\n\x0e\n\x01\t00\t\t0\x97\x97\x97\x97\x97000"

func TestUnmarshalMessage(t *testing.T) {
	m := allMethod(t)
	tests := []struct{ in, want string }{
		{"\n\x01a", ""},
		{"\n\x05a", "message all.All cannot be read: cannot parse invalid wire-format data"},
		{"\n\x01\xff", "message all.All cannot be read: field all.All.text contains invalid UTF-8"},
		{keyTwice, "message all.All cannot be read: malformed: type mismatch: cannot convert nil to map key"},
	}
	for _, test := range tests {
		err := (*Descriptors)(nil).Unmarshal([]byte(test.in), m.NewResponse())
		if test.want == "" && err == nil {
			continue
		}
		if err == nil || err.Error() != test.want {
			t.Errorf("%q: got %v, want %s", test.in, err, test.want)
		}
	}
	bad := &anypb.Any{TypeUrl: "x/all.All", Value: []byte(keyTwice)}
	if got, err := m.set.EncodeMessage(bad); err == nil || !strings.Contains(err.Error(), "malformed") {
		t.Errorf("in an Any: got %s, %v", got, err)
	}
}

func TestSoleField(t *testing.T) {
	d := merge(t, compile(t, "s.proto", `syntax = "proto3"; import "google/protobuf/wrappers.proto";
		message None { int32 n = 1; } message Text { int32 n = 1; string s = 2; } message Bytes { bytes b = 1; }
		message Two { string s = 1; bytes b = 2; } message List { repeated string s = 1; } message Both { string s = 1; repeated bytes b = 2; }
		message In { Text t = 1; } message Map { map<string, string> m = 1; bytes b = 2; } message One { oneof x { string s = 1; int32 n = 2; } }
		service S { rpc DoNone(None) returns (None); rpc DoText(None) returns (Text); rpc DoBytes(None) returns (Bytes); rpc DoTwo(None) returns (Two);
		rpc DoList(None) returns (List); rpc DoBoth(None) returns (Both); rpc DoIn(None) returns (In); rpc DoMap(None) returns (Map); rpc DoOne(None) returns (One);
		rpc DoWrapper(None) returns (google.protobuf.StringValue); }`))
	tests := []struct {
		method, want string
		text         bool
	}{
		{"None", "", false},
		{"Text", "s", true},
		{"Bytes", "b", false},
		{"Two", "", false},
		{"List", "", false},
		{"Both", "", false},
		{"In", "", false},
		{"Map", "b", false},
		{"One", "s", true},
		{"Wrapper", "value", true},
	}
	for _, test := range tests {
		m, err := d.Find("Do" + test.method)
		if err != nil {
			t.Fatal(err)
		}
		if got, text := m.SoleField(); got != test.want || text != test.text {
			t.Errorf("%s: got %q, %v", test.method, got, text)
		}
	}
}

func TestHookOfMethod(t *testing.T) {
	m := allMethod(t)
	h := m.Describe(schema.Query{})
	if h.Name != "S/Do" || h.Doc != "Do does it all." || h.Streams != "out" || h.Async {
		t.Errorf("got %+v", h)
	}
	want := map[string]schema.Param{
		"text":      {Type: "string"},
		"data":      {Type: "bytes"},
		"large":     {Type: "int64"},
		"real":      {Type: "double"},
		"color":     {Type: "enum all.Color (COLOR_NONE, RED, GREEN)"},
		"address":   {Type: "message all.Address"},
		"user_name": {Type: "string"},
		"tags":      {Type: "repeated string"},
		"addresses": {Type: "repeated message all.Address"},
		"bits":      {Type: "map<int32, bool>"},
		"places":    {Type: "map<string, message all.Address>"},
		"email":     {Type: "string"},
		"nick":      {Type: "string"},
		"at":        {Type: "message google.protobuf.Timestamp"},
	}
	found := 0
	for _, p := range h.Params {
		w, ok := want[p.Name]
		if !ok {
			continue
		}
		found++
		if p.Type != w.Type || p.Kind != schema.NameOnly || p.Required {
			t.Errorf("got %+v, want %+v", p, w)
		}
	}
	if found != len(want) {
		t.Errorf("got %d of %d parameters", found, len(want))
	}
	kv, err := merge(t, compile(t, "kv.proto", pairProto)).Find("Put")
	if err != nil {
		t.Fatal(err)
	}
	signature := "KV/Put(key_name: string, value: bytes, at: google.protobuf.Timestamp)" +
		" -> kv.Pair{key_name: string, value: bytes, at: google.protobuf.Timestamp}"
	if got := kv.Describe(schema.Query{}).Signature(); got != signature {
		t.Errorf("got %s, want %s", got, signature)
	}
	if s := kv.set.Schema(schema.Query{}); len(s.Hooks) != 1 || s.Hooks[0].Name != "KV/Put" {
		t.Errorf("schema: %+v", s)
	}
}

func TestTemplate(t *testing.T) {
	m := allMethod(t)
	text := m.Template()
	var got map[string]json.RawMessage
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	want := map[string]string{
		"text": `""`, "small": "0", "large": `"0"`, "color": `"COLOR_NONE"`, "tags": "[]", "labels": "{}", "email": `""`, "nick": `""`,
		"at": `"1970-01-01T00:00:00Z"`, "wait": `"0s"`, "any": "{}", "meta": "{}", "any_json": "null", "list": "[]", "wrapped": `"0"`,
		"mask": `""`, "nothing": "null", "data": `""`, "flag": "false", "real": "0", "user_name": `""`,
	}
	for name, value := range want {
		if string(got[name]) != value {
			t.Errorf("%s: got %s, want %s", name, got[name], value)
		}
	}
	if _, ok := got["phone"]; ok {
		t.Error("a second field of a oneof is in the template")
	}
	var address bytes.Buffer
	if err := json.Compact(&address, got["address"]); err != nil || address.String() != `{"city":"","zip":0,"next":null,"lines":[]}` {
		t.Errorf("address is not as it should be: %s", text)
	}
	if _, err := DecodeMessage(m, text); err != nil {
		t.Errorf("the template is no request: %v", err)
	}
	if got, most := len(got), m.desc.Input().Fields().Len()-2; got != most {
		t.Errorf("got %d fields, want %d", got, most)
	}
}

// TestTemplateIsBounded checks that the template of messages that contain each other many times
// stays small.
func TestTemplateIsBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString(`syntax = "proto3"; service S { rpc R(M0) returns (M0); } message M30 {}`)
	for i := range 30 {
		text.WriteString(strings.ReplaceAll(strings.ReplaceAll("message Mi { Mn a = 1; Mn b = 2; Mn c = 3; Mn d = 4; }", "Mi", messageName(i)), "Mn", messageName(i+1)))
	}
	m, err := merge(t, compile(t, "b.proto", text.String())).Find("R")
	if err != nil {
		t.Fatal(err)
	}
	template := m.Template()
	if len(template) > 1<<20 {
		t.Errorf("got %d bytes", len(template))
	}
	if _, err := DecodeMessage(m, template); err != nil {
		t.Error(err)
	}
}

func messageName(i int) string { return fmt.Sprintf("M%d", i) }

func FuzzDecodeMessage(f *testing.F) {
	m := allMethod(f)
	for _, seed := range []string{`{}`, `{"text":"a"}`, `{"places":{"a":{"zip":1}}}`, `{"any":{"@type":"x/all.Address"}}`, `{"txet":1}`, `[1]`, `{"bits":{"x":1}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		message, err := DecodeMessage(m, content)
		if err != nil {
			return
		}
		if _, err := proto.Marshal(message); err != nil {
			t.Fatalf("%s: %v", content, err)
		}
	})
}

// FuzzEncodeMessage encodes bytes as a plugin would send them.
func FuzzEncodeMessage(f *testing.F) {
	m := allMethod(f)
	for _, seed := range []string{"text=a", "any={}", "at=2024-01-02T03:04:05Z", "labels.a=b", "meta.a=1"} {
		if message, err := bindWords(m, seed); err == nil {
			content, _ := proto.Marshal(message)
			f.Add(content)
		}
	}
	f.Add([]byte(keyTwice))
	f.Fuzz(func(t *testing.T, content []byte) {
		message := m.NewResponse()
		if (*Descriptors)(nil).Unmarshal(content, message) != nil {
			return
		}
		line, err := m.set.EncodeMessage(message)
		if err == nil && !json.Valid(line) {
			t.Fatalf("%x: %s is no JSON", content, line)
		}
	})
}

func BenchmarkEncodeMessage(b *testing.B) {
	m := allMethod(b)
	message, err := bindWords(m, "text=hello", "address.city=Rome", "small=5", "tags=a", "labels.a=b")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.set.EncodeMessage(message); err != nil {
			b.Fatal(err)
		}
	}
}
