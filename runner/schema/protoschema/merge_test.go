package protoschema

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

func merge(t testing.TB, sources ...Source) *Descriptors {
	t.Helper()
	d, err := MergeDescriptors(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// compile returns a source with the descriptor of one file's text.
func compile(t testing.TB, name, text string, imports ...Source) Source {
	t.Helper()
	var imported []*descriptorpb.FileDescriptorProto
	for _, s := range imports {
		imported = append(imported, s.Files...)
	}
	file, err := runnertest.ProtoFile(name, text, imported...)
	if err != nil {
		t.Fatal(err)
	}
	return Source{Name: name, Files: []*descriptorpb.FileDescriptorProto{file}}
}

// stripped returns a source with only the parts that a generated file keeps: no comments, no JSON
// names.
func stripped(t testing.TB, name string, s Source) Source {
	t.Helper()
	var serialized [][]byte
	for _, file := range s.Files {
		file = proto.Clone(file).(*descriptorpb.FileDescriptorProto)
		file.SourceCodeInfo = nil
		for _, message := range file.MessageType {
			for _, field := range message.Field {
				field.JsonName = nil
			}
		}
		content, err := proto.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		serialized = append(serialized, content)
	}
	read, err := ReadFiles(name, serialized...)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

const pairProto = `
syntax = "proto3";
package kv;
import "google/protobuf/timestamp.proto";
// Pair is one entry.
message Pair { string key_name = 1; bytes value = 2; google.protobuf.Timestamp at = 3; }
service KV {
  // Put stores it.
  //
  // More of that.
  rpc Put(Pair) returns (Pair);
}
`

// edited returns the source of pairProto with one text replaced.
func edited(t testing.TB, name, old, changed string) Source {
	t.Helper()
	s := compile(t, name, strings.Replace(pairProto, old, changed, 1))
	s.Name = "b.protoset"
	return s
}

func TestMergeAgrees(t *testing.T) {
	source := compile(t, "kv.proto", pairProto)
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: source.Files})
	if err != nil {
		t.Fatal(err)
	}
	protoset, err := ReadProtoset("kv.protoset", set)
	if err != nil {
		t.Fatal(err)
	}
	literal := stripped(t, "kv_pb2.py", source)
	moved := stripped(t, "proto/kv_pb2.py", source)
	moved.Files[0].Name = proto.String("proto/kv.proto")
	user := compile(t, "user.proto", `syntax = "proto3"; package u;
		message Pair { string key_name = 1; } service U { rpc Go(Pair) returns (Pair); }`)
	user.Files[0].Dependency = []string{"proto/kv.proto"}
	user.Files[0].MessageType = nil
	user.Files[0].Service[0].Method[0].InputType = proto.String(".kv.Pair")
	user.Files[0].Service[0].Method[0].OutputType = proto.String(".kv.Pair")

	tests := []struct {
		name    string
		sources []Source
		methods int
	}{
		{"one", []Source{source}, 1},
		{"the same twice", []Source{source, source}, 1},
		{"all forms", []Source{literal, protoset, source}, 1},
		{"two paths", []Source{source, moved}, 1},
		{"two paths, imported by the second", []Source{source, moved, user}, 2},
		{"the import comes later", []Source{user, moved}, 2},
		{"one more", []Source{source, edited(t, "kv.proto", "service KV", "message More {} service KV")}, 1},
		{"another file of the same name", []Source{source, edited(t, "kv.proto", "package kv", "package other")}, 2},
		{"none", nil, 0},
	}
	for _, test := range tests {
		d := merge(t, test.sources...)
		if got := len(d.Methods()); got != test.methods {
			t.Errorf("%s: got %d methods, want %d", test.name, got, test.methods)
		}
	}
	if h := merge(t, literal, source).Methods()[0].Describe(schema.Query{}); h.Doc != "Put stores it." {
		t.Errorf("the comment of the second source is lost: %q", h.Doc)
	}
}

func TestMergeDisagrees(t *testing.T) {
	first := compile(t, "kv.proto", pairProto)
	first.Name = "server reflection"
	edited := func(name, old, changed string) Source { return edited(t, name, old, changed) }
	tests := []struct {
		name   string
		second Source
		want   string
	}{
		{"type", edited("kv.proto", "bytes value = 2", "string value = 2"),
			"descriptors disagree about kv.Pair: kv.proto in server reflection and kv.proto in b.protoset"},
		{"symbol", edited("other.proto", "value = 2", "value = 4"),
			"descriptors disagree about kv.Pair: kv.proto in server reflection and other.proto in b.protoset"},
		{"method", edited("kv.proto", "rpc Put(Pair)", "rpc Put(stream Pair)"),
			"descriptors disagree about kv.KV: kv.proto in server reflection and kv.proto in b.protoset"},
	}
	for _, test := range tests {
		_, err := MergeDescriptors(first, test.second)
		var de *hook.Error
		if !errors.As(err, &de) || de.Reason != Disagree || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

func BenchmarkMergeDescriptors(b *testing.B) {
	var sources []Source
	for i := range 50 {
		text := strings.ReplaceAll(pairProto, "package kv", fmt.Sprintf("package kv%d", i))
		for j := range 20 {
			text += fmt.Sprintf("message M%d { string a = 1; repeated Pair b = 2; map<string, int32> c = 3; oneof d { int32 e = 4; bool f = 5; } }\n", j)
		}
		s := compile(b, fmt.Sprintf("kv%d.proto", i), text)
		sources = append(sources, stripped(b, "literal", s))
	}
	b.ReportAllocs()
	for b.Loop() {
		merge(b, sources...)
	}
}
