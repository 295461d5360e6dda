package protoschema

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

func TestBrokenDescriptors(t *testing.T) {
	if _, err := ReadFiles("x_pb2.py", []byte("\xff")); err == nil || !strings.HasPrefix(err.Error(), "descriptor in x_pb2.py: ") {
		t.Errorf("got %v", err)
	}
	if _, err := ReadProtoset("x.protoset", []byte("\xff")); err == nil || !strings.HasPrefix(err.Error(), "descriptor in x.protoset: ") {
		t.Errorf("got %v", err)
	}
	file := func(name string, imports ...string) *descriptorpb.FileDescriptorProto {
		return &descriptorpb.FileDescriptorProto{Name: &name, Dependency: imports, Syntax: proto.String("proto3")}
	}
	uses := func(name, field string) *descriptorpb.FileDescriptorProto {
		f := file(name+".proto", field+".proto")
		f.MessageType = []*descriptorpb.DescriptorProto{{Name: &name, Field: []*descriptorpb.FieldDescriptorProto{{
			Name: proto.String("f"), Number: proto.Int32(1), TypeName: proto.String("." + field), Type: descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(),
		}}}}
		return f
	}
	_, err := MergeDescriptors(Source{Files: []*descriptorpb.FileDescriptorProto{uses("a", "b"), uses("b", "a")}})
	var de *hook.Error
	if !errors.As(err, &de) || err.Error() != "descriptor of a.proto: it imports itself, directly or through others" {
		t.Errorf("cycle: got %v", err)
	}
	broken := file("c.proto")
	broken.MessageType = []*descriptorpb.DescriptorProto{{Name: proto.String("1")}}
	if _, err := MergeDescriptors(Source{Name: "x", Files: []*descriptorpb.FileDescriptorProto{broken}}); !errors.As(err, &de) ||
		!strings.HasPrefix(err.Error(), "descriptor of c.proto in x: ") {
		t.Errorf("bad name: got %v", err)
	}
	if _, err := MergeDescriptors(Source{Files: []*descriptorpb.FileDescriptorProto{file("")}}); !errors.As(err, &de) {
		t.Errorf("no name: got %v", err)
	}
}

// missingImport returns the descriptors of a.proto without those of its imports.
func missingImport(t testing.TB) *Descriptors {
	t.Helper()
	b := compile(t, "lib/b.proto", `syntax = "proto3"; package lib; message B { string x = 1; } enum E { ZERO = 0; }`)
	unused := compile(t, "lib/unused.proto", `syntax = "proto3"; package lib; message Unused {}`)
	a := compile(t, "a.proto", `syntax = "proto3"; package a; import "lib/b.proto"; import "lib/unused.proto";
		message In { string name = 1; lib.B b = 2; repeated lib.B many = 3; map<string, lib.B> by = 4; lib.E e = 5; }
		message Out { string name = 1; }
		service S { rpc Call(In) returns (Out); rpc Far(Out) returns (lib.B); }`, b, unused)
	return merge(t, Source{Name: "a_pb2.py", Files: a.Files})
}

func TestMissingImport(t *testing.T) {
	d := missingImport(t)
	want := "lib.B is not described, but a.proto in a_pb2.py uses it"
	_, err := d.Find("Far")
	var me *hook.Error
	if !errors.As(err, &me) || me.Reason != MissingImport || len(me.Hints) != 1 || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	m, err := d.Find("Call")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(m.Describe(schema.Query{}).Params[1].Type); got != "message lib.B" {
		t.Errorf("type: got %s", got)
	}
	if _, err := DecodeMessage(m, m.Template()); err != nil {
		t.Errorf("template: %v\n%s", err, m.Template())
	}
	for _, typed := range []string{"b.x=1", "b={}", "many={}", "by.k.x=1", "by.k={}", `b:={"x":"1"}`, `many:=[{"x":1}]`} {
		_, err := bindWords(m, typed)
		if !errors.As(err, &me) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", typed, err, want)
		}
	}
	got, err := bindWords(m, "name=x", "e=3")
	if err != nil {
		t.Fatalf("what is known cannot be used: %v", err)
	}
	if line, err := d.EncodeMessage(got); err != nil || string(line) != `{"name":"x","e":3}` {
		t.Errorf("got %s, %v", line, err)
	}
	in := m.NewRequest()
	if err := proto.Unmarshal([]byte{0x12, 0x00}, in); err != nil {
		t.Fatal(err)
	}
	if line, err := d.EncodeMessage(in); !errors.As(err, &me) || err.Error() != want {
		t.Errorf("got %s, %v, want %s", line, err, want)
	}
}

// TestImportUnderAnotherPath checks a file that imports a path that no source has. Its types may be
// found under another path.
func TestImportUnderAnotherPath(t *testing.T) {
	lib := compile(t, "b.proto", `syntax = "proto3"; package lib; message B { message C { string x = 1; } } enum E { ZERO = 0; }`)
	d := missingImport(t)
	file := fileProto(t, d, "a.proto")
	both := merge(t, Source{Files: []*descriptorpb.FileDescriptorProto{file}}, lib)
	if _, err := both.Find("Far"); err != nil {
		t.Error(err)
	}
}
