package grpcplugin_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// zoo returns the configuration of the plugin in testdata with these arguments.
func zoo(t testing.TB, args ...string) grpcplugin.Config {
	t.Helper()
	dir, err := filepath.Abs("../../testdata/plugins/grpc")
	if err != nil {
		t.Fatal(err)
	}
	return grpcplugin.Config{
		Path: grpcio(t), Args: append([]string{filepath.Join(dir, "zoo.py")}, args...), Python: true,
		Env:       proc.Environ(os.Environ(), false, nil),
		CookieKey: "ZOO_COOKIE", CookieValue: "monkey",
		Sources: protoFile(filepath.Join(dir, "zoo.proto")),
		Output:  func(stream, text string, cut int) { t.Logf("%s: %.200s", stream, text) },
	}
}

// protoFile returns descriptors from a .proto file.
func protoFile(path string) func() ([]protoschema.Source, error) {
	return func() ([]protoschema.Source, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := runnertest.ProtoFile(filepath.Base(path), string(text))
		return []protoschema.Source{{Name: path, Files: []*descriptorpb.FileDescriptorProto{file}}}, err
	}
}

// encode returns a call with JSON arguments.
func encode(t testing.TB, name string, args any) hook.Call {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return hook.Call{Hook: name, Args: hook.Args{JSON: text}}
}

// words returns a call with words as they are typed.
func words(t testing.TB, name string, typed ...string) hook.Call {
	t.Helper()
	parsed, err := schema.ParseWords(typed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return hook.Call{Hook: name, Args: hook.Args{Words: parsed}}
}

func suite(t *testing.T, cfg, broken func(t *testing.T) grpcplugin.Config) {
	runnertest.Suite{
		New:    func(t *testing.T) hook.Launcher { return grpcplugin.New(cfg(t)) },
		Broken: func(t *testing.T) hook.Launcher { return grpcplugin.New(broken(t)) },
		Echo:   func(text string) hook.Call { return encode(t, "Echo", map[string]string{"text": text}) },
		Text: func(r hook.Result) string {
			var m struct{ Text string }
			if err := json.Unmarshal(r.Value, &m); err != nil {
				t.Errorf("%.200s: %v", r.Value, err)
			}
			return m.Text
		},
		Raise:    hook.Call{Hook: "Fail"},
		Missing:  hook.Call{Hook: "Nosuch"},
		BadArgs:  words(t, "Echo", "txt=one"),
		Hang:     hook.Call{Hook: "Hang"},
		Stubborn: hook.Call{Hook: "Stubborn"},
		Exit:     words(t, "Leave", "n=7"),
		Stream:   func(n int) hook.Call { return encode(t, "Count", map[string]int{"n": n}) },
		Hook:     "Zoo/Echo",
	}.Run(t)
}

func TestConformancePython(t *testing.T) {
	grpcio(t)
	suite(t, func(t *testing.T) grpcplugin.Config { return zoo(t) },
		func(t *testing.T) grpcplugin.Config {
			cfg := zoo(t)
			cfg.CookieValue = "ape"
			return cfg
		})
}
