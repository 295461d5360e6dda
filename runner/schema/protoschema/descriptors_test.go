package protoschema

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pyplug/pyplug/runner/schema"
)

// protoFiles reads from a map, whose names have slashes.
func protoFiles(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := files[filepath.ToSlash(name)]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	}
}

// compile makes a source of one file's text.
func compile(t testing.TB, name, text string) Source {
	t.Helper()
	s, err := CompileProto(nil, []string{name}, protoFiles(map[string]string{name: text}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func merge(t testing.TB, sources ...Source) *Descriptors {
	t.Helper()
	d, err := MergeDescriptors(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// plain is what a generated file keeps: no comments, no JSON names.
func plain(t testing.TB, name string, s Source) Source {
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
	literal := plain(t, "kv_pb2.py", source)
	moved := plain(t, "proto/kv_pb2.py", source)
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
		{"none", nil, 0},
	}
	for _, test := range tests {
		d := merge(t, test.sources...)
		if got := len(d.Methods()); got != test.methods {
			t.Errorf("%s: got %d methods, want %d", test.name, got, test.methods)
		}
	}
	if h := merge(t, literal, source).Methods()[0].Hook(); h.Doc != "Put stores it." {
		t.Errorf("the comment of the second source is lost: %q", h.Doc)
	}
}

func TestMergeDisagrees(t *testing.T) {
	first := compile(t, "kv.proto", pairProto)
	first.Name = "server reflection"
	edited := func(name, old, changed string) Source {
		s := compile(t, name, strings.Replace(pairProto, old, changed, 1))
		s.Name = "b.protoset"
		return s
	}
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
		{"one more", edited("kv.proto", "service KV", "message More {} service KV"),
			"descriptors disagree about kv.More: kv.proto in server reflection and kv.proto in b.protoset"},
		{"another file", edited("kv.proto", "package kv", "package other"),
			"descriptors disagree about kv.proto: kv.proto in server reflection and kv.proto in b.protoset"},
	}
	for _, test := range tests {
		_, err := MergeDescriptors(first, test.second)
		var de *DisagreeError
		if !errors.As(err, &de) || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

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
	_, err := NewDescriptors(file("a.proto", "b.proto"), file("b.proto", "a.proto"))
	var de *DescriptorError
	if !errors.As(err, &de) || de.File != "a.proto" || err.Error() != "descriptor of a.proto: it imports itself, directly or through others" {
		t.Errorf("cycle: got %v", err)
	}
	broken := file("c.proto")
	broken.MessageType = []*descriptorpb.DescriptorProto{{Name: proto.String("1")}}
	if _, err := MergeDescriptors(Source{Name: "x", Files: []*descriptorpb.FileDescriptorProto{broken}}); !errors.As(err, &de) ||
		!strings.HasPrefix(err.Error(), "descriptor of c.proto in x: ") {
		t.Errorf("bad name: got %v", err)
	}
	if _, err := NewDescriptors(file("")); !errors.As(err, &de) {
		t.Errorf("no name: got %v", err)
	}
}

// missingImport is a.proto without what it imports.
func missingImport(t testing.TB) *Descriptors {
	t.Helper()
	s, err := CompileProto(nil, []string{"a.proto"}, protoFiles(map[string]string{
		"a.proto": `syntax = "proto3"; package a; import "lib/b.proto"; import "lib/unused.proto";
			message In { string name = 1; lib.B b = 2; repeated lib.B many = 3; map<string, lib.B> by = 4; lib.E e = 5; }
			message Out { string name = 1; }
			service S { rpc Call(In) returns (Out); rpc Far(Out) returns (lib.B); }`,
		"lib/b.proto":      `syntax = "proto3"; package lib; message B { string x = 1; } enum E { ZERO = 0; }`,
		"lib/unused.proto": `syntax = "proto3"; package lib; message Unused {}`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	return merge(t, Source{Name: "a_pb2.py", Files: s.Files[len(s.Files)-1:]})
}

func TestMissingImport(t *testing.T) {
	d := missingImport(t)
	want := "lib.B is not described: a.proto in a_pb2.py imports lib/b.proto, lib/unused.proto, want one source that has it"
	_, err := d.Find("Far")
	var me *MissingImportError
	if !errors.As(err, &me) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	m, err := d.Find("Call")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(m.Hook().Params[1].Type); got != "message lib.B" {
		t.Errorf("type: got %s", got)
	}
	if _, err := DecodeMessage(m, m.Template()); err != nil {
		t.Errorf("template: %v\n%s", err, m.Template())
	}
	for _, typed := range []string{"b.x=1", "b={}", "many={}", "by.k.x=1", "by.k={}", `b:={"x":"1"}`, `many:=[{"x":1}]`, `by:={"k":{"x":1}}`} {
		_, err := bindWords(m, typed)
		if !errors.As(err, &me) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", typed, err, want)
		}
	}
	got, err := bindWords(m, "name=x", "e=3")
	if err != nil {
		t.Fatalf("what is known cannot be used: %v", err)
	}
	if line, err := EncodeMessage(got, EncodeOptions{Descriptors: d}); err != nil || string(line) != `{"name":"x","e":3}` {
		t.Errorf("got %s, %v", line, err)
	}
	in := m.NewRequest()
	if err := proto.Unmarshal([]byte{0x12, 0x00}, in); err != nil {
		t.Fatal(err)
	}
	if line, err := EncodeMessage(in, EncodeOptions{Descriptors: d}); !errors.As(err, &me) || err.Error() != want {
		t.Errorf("got %s, %v, want %s", line, err, want)
	}
}

// A file that imports a path no source has may still find its types under
// another path.
func TestImportUnderAnotherPath(t *testing.T) {
	lib := compile(t, "b.proto", `syntax = "proto3"; package lib; message B { message C { string x = 1; } } enum E { ZERO = 0; }`)
	d := missingImport(t)
	file := fileProto(t, d, "a.proto")
	both := merge(t, Source{Files: []*descriptorpb.FileDescriptorProto{file}}, lib)
	if _, err := both.Find("Far"); err != nil {
		t.Error(err)
	}
}

func TestCompileProto(t *testing.T) {
	files := map[string]string{
		"proto/a.proto":         `syntax = "proto3"; import "sub/b.proto"; message A { B b = 1; }`,
		"proto/sub/b.proto":     `syntax = "proto3"; message B {}`,
		"options.proto":         `syntax = "proto3"; import "google/api/annotations.proto"; option java_package = "x"; message A { int32 a = 1 [deprecated = true]; } service S { rpc R(A) returns (A) { option (google.api.http) = { get: "/v1" }; } }`,
		"undefined.proto":       "syntax = \"proto3\";\nimport \"gone.proto\";\nmessage A { Gone g = 1; }",
		"syntax.proto":          "syntax = \"proto3\";\nmessage A { string a = ; }",
		"well.proto":            `syntax = "proto3"; import "google/protobuf/any.proto"; import "google/protobuf/struct.proto"; message A { google.protobuf.Any a = 1; }`,
		"/abs/lone.proto":       `syntax = "proto3"; import "beside.proto"; message A { B b = 1; }`,
		"/abs/beside.proto":     `syntax = "proto3"; message B {}`,
		"../up/outside.proto":   `syntax = "proto3"; message A {}`,
		"editions.proto":        `edition = "2023"; message A { string a = 1 [features.field_presence = IMPLICIT]; }`,
		"java.proto":            `edition = "2023"; import "google/protobuf/java_features.proto"; option features.(pb.java).utf8_validation = VERIFY; message A {}`,
		"plug.proto":            `syntax = "proto3"; import "google/protobuf/compiler/plugin.proto"; message A { google.protobuf.compiler.Version v = 1; }`,
		"own.proto":             `syntax = "proto2"; import "google/protobuf/descriptor.proto"; extend google.protobuf.FieldOptions { optional int32 mark = 50000; } message A { optional int32 a = 1 [(mark) = 7]; }`,
		"one.proto":             `syntax = "proto3"; import "two.proto";`,
		"two.proto":             `syntax = "proto3"; import "one.proto";`,
		"twice.proto":           `syntax = "proto3"; import "proto/sub/b.proto"; message B {}`,
		"again.proto":           `syntax = "proto3"; message B { string c = 1; }`,
		"proto/root/deep.proto": `syntax = "proto2"; message A { required int32 a = 1; }`,
	}
	tests := []struct {
		paths, names []string
		want         string // the files, or the error
	}{
		{nil, []string{"proto/root/deep.proto"}, "[proto/root/deep.proto]"},
		{[]string{"proto"}, []string{"a.proto"}, "[sub/b.proto a.proto]"},
		{[]string{"proto"}, []string{"proto/a.proto", "proto/sub/b.proto"}, "[sub/b.proto a.proto]"},
		{nil, []string{"options.proto"}, "[options.proto]"},
		{nil, []string{"well.proto"}, "[well.proto]"},
		{nil, []string{"editions.proto"}, "[editions.proto]"},
		{nil, []string{"java.proto"}, "[java.proto]"},
		{nil, []string{"plug.proto"}, "[plug.proto]"},
		{nil, []string{"own.proto"}, "[own.proto]"},
		{nil, []string{"one.proto"}, "one.proto: it imports itself, directly or through others"},
		{nil, []string{"twice.proto"}, "twice.proto:1:56: symbol \"B\" already defined at proto/sub/b.proto:1:28"},
		{nil, []string{"again.proto", "proto/sub/b.proto"}, "proto/sub/b.proto:1:28: symbol \"B\" already defined at again.proto:1:28"},
		{nil, []string{"proto/sub/b.proto", "again.proto"}, "again.proto:1:28: symbol \"B\" already defined at proto/sub/b.proto:1:28"},
		{nil, []string{"/abs/lone.proto"}, "[beside.proto lone.proto]"},
		{nil, []string{"../up/outside.proto"}, "[outside.proto]"},
		{nil, []string{"gone.proto"}, "gone.proto: open gone.proto: file does not exist"},
		{nil, []string{"undefined.proto"}, "undefined.proto:3:13: field A.g: unknown type Gone; import not found: gone.proto"},
		{nil, []string{"syntax.proto"}, "syntax.proto:2:24: syntax error: unexpected ';', expecting int literal"},
	}
	for _, test := range tests {
		s, err := CompileProto(test.paths, test.names, protoFiles(files))
		got := ""
		if err != nil {
			got = err.Error()
			var pe *ProtoError
			if !errors.As(err, &pe) {
				t.Errorf("%v: %T is no ProtoError", test.names, err)
			}
		} else {
			var names []string
			for _, file := range s.Files {
				names = append(names, file.GetName())
			}
			got = fmt.Sprint(names)
			merge(t, s)
		}
		if got != test.want {
			t.Errorf("%v: got %s, want %s", test.names, got, test.want)
		}
	}
}

func TestMethods(t *testing.T) {
	source := compile(t, "m.proto", `syntax = "proto3"; package a.b; message M {}
		service One { rpc Get(M) returns (M); rpc Put(stream M) returns (M); }
		service Two { rpc Get(M) returns (stream M); rpc Both(stream M) returns (stream M); }`)
	again := compile(t, "n.proto", `syntax = "proto3"; package c; message M {} service One { rpc Only(M) returns (M); rpc Get(M) returns (M); }`)
	health := compile(t, "grpc/health/v1/health.proto", `syntax = "proto3"; package grpc.health.v1; message M {} service Health { rpc Check(M) returns (M); }`)
	stdio := compile(t, "stdio.proto", `syntax = "proto3"; package plugin; message M {} service GRPCStdio { rpc StreamStdio(M) returns (M); }`)
	d := merge(t, source, health, again, stdio)
	want := []string{"a.b.One/Get", "One/Put", "Two/Get", "Two/Both", "One/Only", "c.One/Get"}
	if got := methodNames(d.Methods()); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	streams := []string{"", "in", "out", "both", "", ""}
	for i, m := range d.Methods() {
		if m.Streams() != streams[i] {
			t.Errorf("%s: streams %q, want %q", m.Name(), m.Streams(), streams[i])
		}
		if found, err := d.Find(m.Name()); err != nil || found.FullName() != m.FullName() {
			t.Errorf("%s is not found by its name: %v", m.Name(), err)
		}
	}
	tests := []struct{ name, want string }{
		{"Put", "a.b.One/Put"}, {"One/Put", "a.b.One/Put"}, {"a.b.One/Put", "a.b.One/Put"}, {"b.One/Get", "a.b.One/Get"},
		{"Both", "a.b.Two/Both"}, {"Two/Get", "a.b.Two/Get"}, {"c.One/Get", "c.One/Get"},
		{"Get", "3 methods have this name, want one of a.b.One/Get, Two/Get, c.One/Get"},
		{"One/Get", "2 methods have this name, want one of a.b.One/Get, c.One/Get"},
		{"put", "no such hook"}, {"", "no such hook"}, {"/", "no such hook"}, {"One/", "no such hook"}, {"ne/Put", "no such hook"},
		{"Check", "no such hook"}, {"Health/Check", "no such hook"},
		{"grpc.health.v1.Health/Check", "grpc.health.v1.Health/Check"}, {"plugin.GRPCStdio/StreamStdio", "plugin.GRPCStdio/StreamStdio"},
	}
	for _, test := range tests {
		m, err := d.Find(test.name)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = m.FullName()
		}
		if got != test.want {
			t.Errorf("%q: got %s, want %s", test.name, got, test.want)
		}
	}
	for name, want := range map[string][]string{
		"Onyl":         {"a.b.One/Get", "Put", "Two/Get", "Both", "Only", "c.One/Get"},
		"One/Onyl":     want,
		"a.b.One/Onyl": {"a.b.One/Get", "a.b.One/Put", "a.b.Two/Get", "a.b.Two/Both", "c.One/Only", "c.One/Get"},
	} {
		_, err := d.Find(name)
		var none *schema.NoHookError
		if !errors.As(err, &none) || !reflect.DeepEqual(none.Known, want) {
			t.Errorf("%q: got %#v, want known %v", name, err, want)
		}
	}
	if got := len(d.Services()); got != 5 {
		t.Errorf("got %d services, want 5", got)
	}
	var none *Descriptors
	if _, err := none.Find("x"); err == nil || len(none.Methods()) != 0 || len(none.Services()) != 0 {
		t.Errorf("nil descriptors have methods: %v", err)
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
		sources = append(sources, plain(b, "literal", s))
	}
	b.ReportAllocs()
	for b.Loop() {
		merge(b, sources...)
	}
}
