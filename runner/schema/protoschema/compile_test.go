package protoschema

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
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
		{nil, []string{"options.proto"}, "options.proto:1:27: open google/api/annotations.proto: file does not exist"},
		{nil, []string{"well.proto"}, "[well.proto]"},
		{nil, []string{"editions.proto"}, "[editions.proto]"},
		{nil, []string{"java.proto"}, "[java.proto]"},
		{nil, []string{"plug.proto"}, "[plug.proto]"},
		{nil, []string{"own.proto"}, "[own.proto]"},
		{nil, []string{"one.proto"}, "cycle"},
		{nil, []string{"twice.proto"}, "twice.proto:1:56: symbol \"B\" already defined at proto/sub/b.proto:1:28"},
		{nil, []string{"/abs/lone.proto"}, "[beside.proto lone.proto]"},
		{nil, []string{"../up/outside.proto"}, "[outside.proto]"},
		{nil, []string{"gone.proto"}, "open gone.proto: file does not exist"},
		{nil, []string{"undefined.proto"}, "undefined.proto:2:8: open gone.proto: file does not exist"},
		{nil, []string{"syntax.proto"}, "syntax.proto:2:24: syntax error: unexpected ';', expecting int literal"},
	}
	for _, test := range tests {
		s, err := CompileProto(test.paths, test.names, protoFiles(files))
		got := ""
		if err != nil {
			got = err.Error()
			if strings.Contains(got, "cycle found in imports: ") {
				got = "cycle" // which of the files is named is open
			}
			var pe *DescriptorError
			if !errors.As(err, &pe) || strings.Contains(got, ": open ") != (len(pe.Hints()) == 1) {
				t.Errorf("%v: got %#v", test.names, err)
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
