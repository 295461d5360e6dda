package protoschema

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

func fileProto(t testing.TB, d *Descriptors, name string) *descriptorpb.FileDescriptorProto {
	t.Helper()
	file, err := d.files.FindFileByPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return protodesc.ToFileDescriptorProto(file)
}

const allProto = `
syntax = "proto3";
package all;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Color { COLOR_NONE = 0; RED = 1; GREEN = 2; }
message Address { string city = 1; int32 zip = 2; Address next = 3; repeated string lines = 4; }
message All {
  string text = 1; bytes data = 2; bool flag = 3; double real = 4; float single = 5;
  int32 small = 6; int64 large = 7; uint32 count = 8; uint64 huge = 9; sint32 signed = 10; fixed64 fixed = 11;
  Color color = 12; Address address = 13; string user_name = 14 [json_name = "user"];
  repeated string tags = 20; repeated int32 numbers = 21; repeated Address addresses = 22; repeated Color colors = 23;
  map<string, string> labels = 30; map<int32, bool> bits = 31; map<string, Address> places = 32;
  map<string, google.protobuf.Value> values = 33; map<string, google.protobuf.Int32Value> limits = 34;
  oneof contact { string email = 40; int64 phone = 41; Address post = 42; }
  optional string nick = 45;
  google.protobuf.Timestamp at = 50; google.protobuf.Duration wait = 51; google.protobuf.FieldMask mask = 52;
  google.protobuf.Struct meta = 53; google.protobuf.Value any_json = 54; google.protobuf.ListValue list = 55;
  google.protobuf.Any any = 56; google.protobuf.Int64Value wrapped = 57; google.protobuf.StringValue words = 58;
  repeated google.protobuf.BoolValue flags = 59; repeated google.protobuf.Timestamp times = 60;
  google.protobuf.NullValue nothing = 61;
}
service S {
  // Do does it all.
  rpc Do(All) returns (stream All);
}
`

func allMethod(t testing.TB) Method {
	t.Helper()
	m, err := merge(t, compile(t, "all.proto", allProto)).Find("Do")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// bindWords binds words as typed. The file "f" contains the bytes 255 and 10, "json" an object,
// "true" a bool, and any other file the number 7.
func bindWords(m Method, typed ...string) (proto.Message, error) {
	words, err := schema.ParseWords(typed, func(name string) ([]byte, error) {
		switch name {
		case "f":
			return []byte{255, '\n'}, nil
		case "json":
			return []byte(`{"city":"Rome"}`), nil
		case "true":
			return []byte("true\n"), nil
		}
		return []byte("7\n"), nil
	})
	if err != nil {
		return nil, err
	}
	return BindMessage(m, words, nil)
}

func TestBindMessage(t *testing.T) {
	m := allMethod(t)
	tests := []struct{ words, want string }{
		{"", `{}`},
		{"text=", `{}`},
		{"--text a=b --data --text --user-name=x", `{"text":"a=b","data":"LS10ZXh0","user_name":"x"}`},
		{"--flag --labels.my-key -- --tags a --tags [b]", `{"flag":true,"tags":["a","[b]"],"labels":{"my-key":"--"}}`},
		{`--tags ["a","b"] --numbers 1 --numbers 2`, `{"tags":["a","b"],"numbers":[1,2]}`},
		{`--tags ["a"] --tags b`, `{"tags":["[\"a\"]","b"]}`},
		{"--no-flag --text x", `{"text":"x"}`},
		{"text=2", `{"text":"2"}`},
		{`text="q"`, `{"text":"\"q\""}`},
		{`text:="q\u00e9"`, `{"text":"qé"}`},
		{"text@=n", `{"text":"7\n"}`},
		{"data=hé", `{"data":"aMOp"}`},
		{"data@=f", `{"data":"/wo="}`},
		{`data:="/wo="`, `{"data":"/wo="}`},
		{"flag=yes", `{"flag":true}`},
		{"flag=ON", `{"flag":true}`},
		{"flag:=true", `{"flag":true}`},
		{"real=1e3 single=0.5", `{"real":1000,"single":0.5}`},
		{"real=NaN single=-Infinity", `{"real":"NaN","single":"-Infinity"}`},
		{"small=-2147483648 large=9223372036854775807", `{"small":-2147483648,"large":"9223372036854775807"}`},
		{"count=4294967295 huge=18446744073709551615", `{"count":4294967295,"huge":"18446744073709551615"}`},
		{"signed=-7 fixed=1.0", `{"signed":-7,"fixed":"1"}`},
		{"small@=n", `{"small":7}`},
		{"color=RED", `{"color":"RED"}`},
		{"color=2", `{"color":"GREEN"}`},
		{"color=9", `{"color":9}`},
		{`color:="GREEN"`, `{"color":"GREEN"}`},
		{"address.city=Rome address.zip=1", `{"address":{"city":"Rome","zip":1}}`},
		{"address.next.next.city=x", `{"address":{"next":{"next":{"city":"x"}}}}`},
		{`address={"city":"Rome"}`, `{"address":{"city":"Rome"}}`},
		{`address:={"city":"Rome"}`, `{"address":{"city":"Rome"}}`},
		{"address@=json", `{"address":{"city":"Rome"}}`},
		{"address.lines=a address.lines=b", `{"address":{"lines":["a","b"]}}`},
		{"user=a", `{"user_name":"a"}`},
		{"user_name=a", `{"user_name":"a"}`},
		{"anyJson=1", `{"any_json":1}`},
		{"tags=a tags=b tags=[1]", `{"tags":["a","b","[1]"]}`},
		{`tags=a tags:="b" tags:=["c","d"]`, `{"tags":["a","b","c","d"]}`},
		{"numbers=1 numbers:=[2,3] numbers:=4", `{"numbers":[1,2,3,4]}`},
		{`addresses={"city":"a"} addresses:={"city":"b"} addresses:=[{"city":"c"}]`, `{"addresses":[{"city":"a"},{"city":"b"},{"city":"c"}]}`},
		{"colors=RED colors=2", `{"colors":["RED","GREEN"]}`},
		{"labels.a=1 labels.b.c=2", `{"labels":{"a":"1","b.c":"2"}}`},
		{"--labels.app/na-me 1 --labels.x-y=z", `{"labels":{"app/na-me":"1","x-y":"z"}}`},
		{`labels:={"a":"b"}`, `{"labels":{"a":"b"}}`},
		{`labels={"a":"b"}`, `{"labels":{"a":"b"}}`},
		{"--bits.5=yes --bits.-1=0", `{"bits":{"-1":false,"5":true}}`},
		{"places.home.city=x places.home.zip=1 places.b={}", `{"places":{"b":{},"home":{"city":"x","zip":1}}}`},
		{`places.a:={"city":"x"}`, `{"places":{"a":{"city":"x"}}}`},
		{`values.a=1 values.b=x values.c:=[null]`, `{"values":{"a":1,"b":"x","c":[null]}}`},
		{`limits.a=1 limits.b:=2`, `{"limits":{"a":1,"b":2}}`},
		{"email=x", `{"email":"x"}`},
		{"phone=0", `{"phone":"0"}`},
		{"post.city=x post.zip=2", `{"post":{"city":"x","zip":2}}`},
		{"nick=", `{"nick":""}`},
		{"at=2024-01-02T03:04:05Z wait=1.5s", `{"at":"2024-01-02T03:04:05Z","wait":"1.500s"}`},
		{"mask=userName,address.city", `{"mask":"userName,address.city"}`},
		{"mask=userName", `{"mask":"userName"}`},
		{"wrapped.value:=5 words.value:=\"5\"", `{"wrapped":"5","words":"5"}`},
		{"values.b.c=2 values.b.d:=[] --values.x-y.z 1", `{"values":{"b":{"c":2,"d":[]},"x-y":{"z":1}}}`},
		{"limits.a.value=3 limits.b.value:=4", `{"limits":{"a":3,"b":4}}`},
		{`meta={"a":[1]}`, `{"meta":{"a":[1]}}`},
		{"meta.a.b=1 meta.a.c=x meta.d:=null", `{"meta":{"a":{"b":1,"c":"x"},"d":null}}`},
		{"any_json=1.10", `{"any_json":"1.10"}`},
		{"any_json=null", `{"any_json":null}`},
		{"any_json.a=true", `{"any_json":{"a":true}}`},
		{"list=[1,2]", `{"list":[1,2]}`},
		{`any:={"@type":"type.googleapis.com/all.Address","city":"x"}`, `{"any":{"@type":"type.googleapis.com/all.Address","city":"x"}}`},
		{`any:={"@type":"x.y/google.protobuf.Duration","value":"1s"}`, `{"any":{"@type":"x.y/google.protobuf.Duration","value":"1s"}}`},
		{"wrapped=5 words=5", `{"wrapped":"5","words":"5"}`},
		{"wrapped:=5", `{"wrapped":"5"}`},
		{"wrapped.value=5", `{"wrapped":"5"}`},
		{"wrapped:=null", `{}`},
		{"flags=1 flags=no flags:=true", `{"flags":[true,false,true]}`},
		{"times=2024-01-02T03:04:05Z", `{"times":["2024-01-02T03:04:05Z"]}`},
		{"nothing=null", `{}`},
	}
	for _, test := range tests {
		got, err := bindWords(m, strings.Fields(test.words)...)
		if err != nil {
			t.Errorf("%s: %v", test.words, err)
			continue
		}
		line, err := m.set.EncodeMessage(got)
		if err != nil || string(line) != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.words, line, err, test.want)
		}
		// The output can be read again.
		again, err := DecodeMessage(m, line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		} else if second, _ := m.set.EncodeMessage(again); string(second) != string(line) {
			t.Errorf("%s: comes back as %s", line, second)
		}
	}
}

// TestBindMessageWithJSON checks that fields of JSON take precedence over those of words.
func TestBindMessageWithJSON(t *testing.T) {
	m := allMethod(t)
	for content, want := range map[string]string{
		`{}`:                              `{"text":"word","count":2,"address":{"city":"Rome"}}`,
		`{"text":"","address":{"zip":1}}`: `{"count":2,"address":{"zip":1}}`,
		`{"count":0,"tags":["a"]}`:        `{"text":"word","address":{"city":"Rome"},"tags":["a"]}`,
	} {
		words, err := schema.ParseWords([]string{"--text", "word", "count=2", "address.city=Rome"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		message, err := BindMessage(m, words, json.RawMessage(content))
		if err != nil {
			t.Fatal(err)
		}
		if line, err := m.set.EncodeMessage(message); err != nil || string(line) != want {
			t.Errorf("%s: got %s, %v, want %s", content, line, err, want)
		}
	}
}

func TestBindMessageErrors(t *testing.T) {
	m := allMethod(t)
	city := "city, zip, next, lines"
	tests := []struct{ words, want, hint string }{
		{"hello", `"hello" has no name, expected --NAME VALUE with one of text, data, `, "name the field: --text hello"},
		{"=x", `"=x" has no name`, ""},
		{":=1", `":=1" has no name`, ""},
		{"labels.a-b=1", `"labels.a-b=1" has no name`, "name the field: --labels.a-b=1"},
		{"--txet 1", `no field "txet" in all.All, expected one of text, data, `, "did you mean --text?"},
		{"--user-nmae 1", `no field "user-nmae" in all.All, expected one of text, data, `, "did you mean --user-name?"},
		{"--text", `--text needs a value`, ""},
		{"--flag --no-flag", `flag is given twice, last by "--no-flag"`, ""},
		{"--no-flag=1", `no field "no-flag" in all.All`, ""},
		{"--flag text@=n", `argument "text@=n": --flag may take this word as its value, so the file is not read: put the word before --flag`, ""},
		{"address=Rome", `address does not fit: unexpected token "Rome"`, `write it as JSON: 'address:={"city":"","zip":0,"next":null,"lines":[]}'`},
		{"address={} addresses=x", `addresses[0] does not fit: unexpected token "x"`, "write it as JSON: 'addresses:=[]'"},
		{"txet=1", `no field "txet" in all.All, expected one of text, data, `, "did you mean text?"},
		{"address.ciyt=1", `no field "address.ciyt" in all.Address, expected one of ` + city, "did you mean address.city?"},
		{"address.next.q=1", `no field "address.next.q" in all.Address, expected one of ` + city, ""},
		{"places.home.zit=1", `no field "places.home.zit" in all.Address, expected one of ` + city, "did you mean places.home.zip?"},
		{`address:={"next":{"ciyt":1}}`, `address.next.ciyt does not fit: unknown field "ciyt"`, ""},
		{`places:={"a":{"ciyt":1}}`, `places.a.ciyt does not fit: unknown field "ciyt"`, ""},
		{`places.a={"ciyt":1}`, `places.a.ciyt does not fit: unknown field "ciyt"`, ""},
		{"small=x", `small does not fit: invalid value for int32 field small: "x"`, ""},
		{"small=2147483648", `small does not fit: invalid value for int32 field small: "2147483648"`, ""},
		{"small=1.5", `small does not fit: invalid value for int32 field small: "1.5"`, ""},
		{"large=9223372036854775808", `large does not fit: invalid value for int64 field large: "9223372036854775808"`, ""},
		{"count=-1", `count does not fit: invalid value for uint32 field count: "-1"`, ""},
		{"huge=18446744073709551616", `huge does not fit: invalid value for uint64 field huge: "18446744073709551616"`, ""},
		{"single=1e39", `single does not fit: invalid value for float field single: "1e39"`, ""},
		{"flag=maybe", `flag is "maybe", expected bool`, ""},
		{"text@=f", `text is "\xff\n", expected string of UTF-8`, ""},
		{"color=BLUE", `color is "BLUE", expected enum all.Color (COLOR_NONE, RED, GREEN)`, ""},
		{"at=now", `at does not fit: invalid google.protobuf.Timestamp value "now"`, ""},
		{"wait=5", `wait does not fit: invalid google.protobuf.Duration value "5"`, ""},
		{"mask=a_b..c", `mask does not fit: google.protobuf.FieldMask.paths contains invalid path: "a_b..c"`, ""},
		{"wrapped=x", `wrapped does not fit: invalid value for int64 field value: "x"`, ""},
		{"--meta.\xff x", "meta.\xff is \"meta.\\xff\", expected a name of UTF-8", ""},
		{"meta=x", `meta does not fit: unexpected token "x"`, ""},
		{"list={}", `list does not fit: unexpected token {`, ""},
		{"any={}x", `any does not fit: unexpected token "{}x"`, ""},
		{`any:={"@type":"x/y.Z"}`, `any.@type does not fit: unable to resolve "x/y.Z": "not found"`, ""},
		{"address=Rome", `address does not fit: unexpected token "Rome"`, ""},
		{`address:={"zip":"x"}`, `address.zip does not fit: invalid value for int32 field zip: "x"`, ""},
		{`addresses:=[{},{"zip":[]}]`, `addresses[1].zip does not fit: invalid value for int32 field zip: [`, ""},
		{`numbers:=[1,"b"]`, `numbers[1] does not fit: invalid value for int32 field numbers: "b"`, ""},
		{`data:="%"`, `data does not fit: invalid value for bytes field data: "%"`, ""},
		{`text:=5`, `text does not fit: invalid value for string field text: 5`, ""},
		{"bits.x=yes", `bits.x does not fit: invalid value for int32 key: "x"`, ""},
		{"--bits.5=maybe", `bits.5 is "maybe", expected bool`, ""},
		{`bits:={"x":true}`, `bits.x does not fit: invalid value for int32 key: "x"`, ""},
		{`bits:={"5":7}`, `bits.5 does not fit: invalid value for bool field value: 7`, ""},
		{"labels.a:=null", `labels.a does not fit: invalid value for string field value: null`, ""},
		{"places.a=null", `places.a does not fit: unexpected token null`, ""},
		{"labels=x", `labels does not fit: unexpected token "x"`, ""},
		{"numbers=[1] numbers=2", `numbers[0] does not fit: invalid value for int32 field numbers: "[1]"`, ""},
		{"numbers=2 numbers=[1]", `numbers[1] does not fit: invalid value for int32 field numbers: "[1]"`, ""},
		{"--labels a=1", `labels does not fit: unexpected token "a=1"`, "name the key: --labels.KEY VALUE"},
		{"text=1 text=2", `text is given twice, last by "text=2"`, ""},
		{"user=1 user_name=2", `user_name is given twice, last by "user_name=2"`, ""},
		{"labels.a=1 labels.a=2", `labels.a is given twice`, ""},
		{"--bits.5=1 --bits.05=1", `bits.5 does not fit: duplicate map key "5"`, ""},
		{`labels:={} labels.a=2`, `labels.a is given twice`, ""},
		{`labels.a=2 labels:={}`, `labels is given twice`, ""},
		{`address.city=1 address={}`, `address is given twice`, ""},
		{`address={} address.city=1`, `address.city is given twice`, ""},
		{`meta.a=1 meta.a.b=1`, `meta.a.b is given twice`, ""},
		{`meta.a.b=1 meta.a=1`, `meta.a is given twice`, ""},
		{"email=a phone=1", `phone does not fit: error parsing "phone", oneof all.All.contact is already set`, ""},
		{"post.city=a phone=1", `post does not fit: error parsing "post", oneof all.All.contact is already set`, ""},
		{"text.x=1", `text is string, expected one value for all of it, not "text.x=1"`, ""},
		{"addresses.city=1", `addresses is repeated message all.Address, expected one value for all of it, not "addresses.city=1"`, ""},
		{"at.seconds=1", `at is message google.protobuf.Timestamp, expected one value for all of it, not "at.seconds=1"`, ""},
		{"values.a.b=1 values.a=1", `values.a is given twice, last by "values.a=1"`, ""},
		{"limits.a.b=1", `no field "limits.a.b" in google.protobuf.Int32Value, expected one of value`, ""},
		{"list.a=1", `list is message google.protobuf.ListValue, expected one value`, ""},
		{"address" + strings.Repeat(".next", 200) + "=1", "address.next.", ""},
	}
	for _, test := range tests {
		_, err := bindWords(m, strings.Fields(test.words)...)
		var ae *schema.ArgumentError
		if !errors.As(err, &ae) {
			t.Errorf("%s: got %v, want %s", test.words, err, test.want)
			continue
		}
		if !strings.HasPrefix(ae.Error(), test.want) || test.hint != "" && !slices.Contains(hook.Words(ae.Hints), test.hint) {
			t.Errorf("%s: got %v (%q)\n want %s (%q)", test.words, ae, hook.Words(ae.Hints), test.want, test.hint)
		}
	}
	var we *schema.ArgumentError
	if _, err := BindMessage(m, []schema.Word{{Name: "small", Form: schema.JSON, Value: `1,"count":2`, Typed: "x"}}, nil); !errors.As(err, &we) {
		t.Errorf("what is not one JSON value: got %v", err)
	}
}

func TestRequired(t *testing.T) {
	m, err := merge(t, compile(t, "r.proto", `syntax = "proto2"; message A { required int32 a = 1; optional B b = 2; repeated B c = 3;
		optional string d = 4 [default = "dd"]; optional E e = 5; optional group Inner = 6 { optional int32 x = 1; } }
		message B { required string x = 1; } enum E { ONE = 1; TWO = 2; } service S { rpc R(A) returns (A); }`)).Find("R")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ words, want string }{
		{"", "required field A.a not set"},
		{`a=1 b={}`, "required field B.x not set"},
		{"a=1 e=3", `e is "3", expected enum E (ONE, TWO)`},
	}
	for _, test := range tests {
		if _, err := bindWords(m, strings.Fields(test.words)...); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.words, err, test.want)
		}
	}
	if _, err := DecodeMessage(m, []byte("{}")); err == nil || !strings.HasPrefix(err.Error(), "required field A.a not set") {
		t.Errorf("JSON: got %v", err)
	}
	got, err := bindWords(m, "a=1", "Inner.x=5", "e=TWO")
	if err != nil {
		t.Fatal(err)
	}
	if line, err := unknown.EncodeMessage(got); err != nil || string(line) != `{"a":1,"e":"TWO","Inner":{"x":5}}` {
		t.Errorf("got %s, %v", line, err)
	}
	if p := m.Describe(schema.Query{}).Params; !p[0].Required || p[3].Required {
		t.Errorf("params: %+v", p)
	}
	if _, err := DecodeMessage(m, m.Template()); err != nil {
		t.Errorf("template: %v", err)
	}
}

func FuzzBindMessage(f *testing.F) {
	m := allMethod(f)
	for _, seed := range []string{
		"text=a", "address.next.city=x", "labels.a=b", "labels.a-b=c", "meta.a.b=1", "any_json.x=1", "small=99999999999",
		`any:={"@type":"type.googleapis.com/all.Address"}`, `places:={"a":{"zip":[]}}`, "mask=a_b.c", "at=2024", "=x",
		"at.seconds:=5", "mask=b_1", "mask.paths:=[\"a\"]", "values.a.b=1", "limits.a.value:=1", "bits.5@=x",
		"email=1", "post.city=2", "numbers:=[1,\"x\"]", "color=RED", "flags=1", "values.a=[", "limits.x=1", "a..b=1",
	} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		words, err := schema.ParseWords([]string{a, b}, func(name string) ([]byte, error) { return []byte(name), nil })
		if err != nil {
			return
		}
		message, err := BindMessage(m, words, nil)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%q %q: an error without a text", a, b)
			}
			return
		}
		content, err := proto.Marshal(message)
		if err != nil {
			t.Fatalf("%q %q: %v", a, b, err)
		}
		if err := proto.Unmarshal(content, m.NewRequest()); err != nil {
			t.Fatalf("%q %q: %v", a, b, err)
		}
		line, err := m.set.EncodeMessage(message)
		if err == nil && !json.Valid(line) {
			t.Fatalf("%q %q: %s is no JSON", a, b, line)
		}
	})
}

func BenchmarkBindMessage(b *testing.B) {
	m := allMethod(b)
	words, err := schema.ParseWords([]string{"text=hello", "address.city=Rome", "small=5", "tags=a", "labels.a=b"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := BindMessage(m, words, nil); err != nil {
			b.Fatal(err)
		}
	}
}
