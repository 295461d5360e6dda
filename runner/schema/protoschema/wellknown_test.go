package protoschema

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pyplug/pyplug/runner/schema"
)

const wellKnownProto = `
syntax = "proto3";
package wk;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Odd {
  string weird = 1 [json_name = "weird-name"]; map<int32, bytes> blobs = 2;
  map<string, google.protobuf.Timestamp> mts = 3; map<string, google.protobuf.ListValue> lists = 4; Odd odd = 5;
  map<string, google.protobuf.FieldMask> masks = 6; repeated google.protobuf.Value values = 7;
  google.protobuf.Timestamp at = 8; google.protobuf.Struct meta = 9; google.protobuf.Any any = 10; string text = 11;
  google.protobuf.Value value = 12; map<string, google.protobuf.Value> by_name = 13;
}
service W {
  rpc Stru(google.protobuf.Struct) returns (Odd);
  rpc Val(google.protobuf.Value) returns (Odd);
  rpc List(google.protobuf.ListValue) returns (Odd);
  rpc Now(google.protobuf.Timestamp) returns (Odd);
  rpc Wait(google.protobuf.Duration) returns (Odd);
  rpc Mask(google.protobuf.FieldMask) returns (Odd);
  rpc Big(google.protobuf.UInt64Value) returns (Odd);
  rpc Raw(google.protobuf.BytesValue) returns (Odd);
  rpc Wrap(google.protobuf.Any) returns (Odd);
  rpc Do(Odd) returns (Odd);
}
`

func TestBindWellKnown(t *testing.T) {
	d := merge(t, compile(t, "wk.proto", wellKnownProto))
	tests := []struct{ method, words, want string }{
		{"Stru", "", `{}`},
		{"Stru", "a=1 b.c=x b.d:=[1]", `{"a":1,"b":{"c":"x","d":[1]}}`},
		{"Stru", "fields.a=x", `{"fields":{"a":"x"}}`},
		{"Stru", "fields=x", `{"fields":"x"}`},
		{"Stru", "--my-key x --a/b.c-d=1", `{"a/b":{"c-d":1},"my-key":"x"}`},
		{"Big", "value:=18446744073709551615", `"18446744073709551615"`},
		{"Big", "value=7", `"7"`},
		{"Raw", "value:=\"/wo=\"", `"/wo="`},
		{"Raw", "value@=f", `"/wo="`},
		{"Do", "--weird-name 1", `{"weird":"1"}`},
		{"Do", "--blobs.2=x", `{"blobs":{"2":"eA=="}}`},
		{"Do", "mts.b=1970-01-01T00:00:00Z", `{"mts":{"b":"1970-01-01T00:00:00Z"}}`},
		{"Do", "masks.a=baz.qux,userName", `{"masks":{"a":"baz.qux,userName"}}`},
		{"Do", "values=1 values:=[null]", `{"values":[1,null]}`},
		{"Val", "number_value=1", `{"number_value":1}`},
	}
	for _, test := range tests {
		m, err := d.Find(test.method)
		if err != nil {
			t.Fatal(err)
		}
		got, err := bindWords(m, strings.Fields(test.words)...)
		if err != nil {
			t.Errorf("%s %s: %v", test.method, test.words, err)
			continue
		}
		line, err := d.EncodeMessage(got)
		if err != nil || !sameJSON(line, test.want) {
			t.Errorf("%s %s: got %s, %v, want %s", test.method, test.words, line, err, test.want)
		}
	}
}

func TestBindWellKnownErrors(t *testing.T) {
	d := merge(t, compile(t, "wk.proto", wellKnownProto))
	tests := []struct{ method, words, want string }{
		{"Now", "seconds=1", `the request is message google.protobuf.Timestamp, expected one value for all of it, not "seconds=1"`},
		{"Raw", "value:=5", `the request does not fit bytes: invalid value for bytes field value: 5`},
		{"Stru", "foo", `"foo" has no name, expected --NAME VALUE`},
		{"Stru", "=foo", `"=foo" has no name, expected --NAME VALUE`},
		{"Stru", "a=1 a.b=2", `a.b is given twice, last by "a.b=2"`},
		{"Stru", "--\xff=2", "\xff is \"\\xff\", expected a name of UTF-8"},
		{"Do", `:={"s":"1"}`, `":={\"s\":\"1\"}" has no name, expected --NAME VALUE with one of weird, blobs, `},
		{"Do", "@=n", `"@=n" has no name, expected --NAME VALUE with one of`},
		{"Do", "q-q=1", `"q-q=1" has no name, expected --NAME VALUE with one of`},
		{"Do", "lists.a.b=1", `lists.a is message google.protobuf.ListValue, expected one value for all of it`},
		{"Do", "masks.a=b_1..c", `masks.a does not fit: google.protobuf.FieldMask.paths contains invalid path: "b_1..c"`},
	}
	for _, test := range tests {
		m, err := d.Find(test.method)
		if err != nil {
			t.Fatal(err)
		}
		_, err = bindWords(m, strings.Fields(test.words)...)
		var ae *schema.ArgumentError
		if !errors.As(err, &ae) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s %s: got %v (%+v), want %s", test.method, test.words, err, ae, test.want)
		}
	}
}

// TestDecodeWellKnown checks that a well-known type as a request has its usual JSON.
func TestDecodeWellKnown(t *testing.T) {
	d := merge(t, compile(t, "wk.proto", wellKnownProto))
	tests := []struct{ method, in, err string }{
		{"Stru", `{"fields":{"a":1}}`, ""},
		{"Val", `3`, ""},
		{"Val", `null`, ""},
		{"List", `[1,[]]`, ""},
		{"Now", `"2024-01-02T03:04:05Z"`, ""},
		{"Mask", `"a,userName"`, ""},
		{"Big", `"5"`, ""},
		{"Now", `{"seconds":5}`, `the request does not fit message google.protobuf.Timestamp such as 2006-01-02T15:04:05Z: unexpected token {`},
		{"Big", `-1`, `the request does not fit uint64: invalid value`},
		{"Stru", `[]`, `the request does not fit message google.protobuf.Struct: unexpected token [`},
	}
	for _, test := range tests {
		m, err := d.Find(test.method)
		if err != nil {
			t.Fatal(err)
		}
		message, err := DecodeMessage(m, []byte(test.in))
		if err != nil {
			if test.err == "" || !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("%s %s: got %v, want %s", test.method, test.in, err, test.err)
			}
			continue
		}
		if line, err := unknown.EncodeMessage(message); err != nil || string(line) != test.in || !m.OwnJSON() {
			t.Errorf("%s %s: got %s, %v", test.method, test.in, line, err)
		}
	}
	m, err := d.Find("Stru")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Describe(schema.Query{}).Signature(), "W/Stru(**fields: google.protobuf.Value) -> wk.Odd{"; !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if m, err := d.Find("Do"); err != nil || m.OwnJSON() {
		t.Errorf("Do: %v, its JSON is no object", err)
	}
}

func TestEncodeIrregular(t *testing.T) {
	d := merge(t, compile(t, "wk.proto", wellKnownProto))
	for _, test := range []struct {
		name    string
		message proto.Message
		want    string
	}{
		{"Timestamp", &timestamppb.Timestamp{Seconds: 1 << 60}, "google.protobuf.Timestamp: seconds out of range 1152921504606846976"},
		{"not a number", structpb.NewNumberValue(math.NaN()), "google.protobuf.Value.number_value: invalid NaN value"},
	} {
		got, err := d.EncodeMessage(test.message)
		if err == nil || !strings.HasSuffix(err.Error(), " has no JSON: "+test.want) {
			t.Errorf("%s: got %s, %v\nwant %s", test.name, got, err, test.want)
		}
	}
}

// sameJSON compares JSON. It ignores the order of names.
func sameJSON(got []byte, want string) bool {
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}
