package grpcplugin_test

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// reads starts a plugin that returns field 20 of a request unchanged. request and answer declare
// the field for pyplug.
func reads(t *testing.T, request, answer string) *grpcplugin.Instance {
	t.Helper()
	path := filepath.Join(t.TempDir(), "belief.proto")
	text := `syntax = "proto2"; package zoo; message Request { ` + request + ` } message Answer { ` + answer + `
		service Zoo {
			rpc Echo(Request) returns (Answer);
			rpc Chat(stream Request) returns (stream Answer);
		}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := fake(t, "carriage return", "") // it has no reflection
	cfg.Sources = protoFile(path)
	return started(t, cfg)
}

// TestMalformed checks that an answer that cannot be read is an error of pyplug, not a status of
// the plugin, and that the plugin stays usable.
func TestMalformed(t *testing.T) {
	runnertest.NothingLeft(t)
	inst := reads(t, `optional bytes raw = 20;`, `map<string, string> m = 20; }`)
	send := func(name, raw string) (hook.Result, error) {
		return inst.Call(t.Context(), encode(t, name, map[string]string{"raw": base64.StdEncoding.EncodeToString([]byte(raw))}))
	}
	for what, raw := range map[string]string{
		"a key twice, then as a number": "\x0a\x01a\x08\x05", // panics in proto.Unmarshal
		"a value without its end":       "\x12\x05a",
	} {
		for _, name := range []string{"Echo", "Chat"} {
			_, err := send(name, raw)
			e := want(t, err, hook.Failed, "message zoo.Answer cannot be read: ")
			if !e.Begun || e.Status != nil {
				t.Errorf("%s of %s: got %+v", name, what, e)
			}
		}
	}
	if r, err := send("Echo", "\x0a\x01a\x12\x01b"); err != nil || string(r.Value) != `{"m":{"a":"b"}}` {
		t.Errorf("got %s, %v", r.Value, err)
	}
}

// TestExtension checks that a field that the plugin adds to its own message is printed.
func TestExtension(t *testing.T) {
	runnertest.NothingLeft(t)
	inst := reads(t, `optional string text = 20;`,
		`extensions 20 to max; } extend Answer { optional string note = 20; }`)
	r, err := inst.Call(t.Context(), words(t, "Echo", "text=seen"))
	if err != nil || string(r.Value) != `{"[zoo.note]":"seen"}` {
		t.Errorf("got %s, %v", r.Value, err)
	}
}

// TestRequired checks that a missing required field is named and that nothing is sent.
func TestRequired(t *testing.T) {
	runnertest.NothingLeft(t)
	inst := reads(t, `required string text = 20;`, `optional string text = 20; }`)
	_, err := inst.Call(t.Context(), hook.Call{Hook: "Echo"})
	e := want(t, err, hook.Request, "text")
	var missing *schema.ArgumentError
	if !errors.As(e, &missing) || e.Begun {
		t.Errorf("got %#v", e.Err)
	}
}

// TestSmallest checks that MaxMessage limits the messages of hooks, but not pyplug's own requests,
// such as those to the health service.
func TestSmallest(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := fake(t, "serve", "")
	cfg.MaxMessage = 1
	inst := started(t, cfg)
	if err := inst.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := inst.Call(t.Context(), words(t, "Echo", "text=hello"))
	want(t, err, hook.Request, "has 7 bytes, expected at most 1")
	_, err = inst.Call(t.Context(), hook.Call{Hook: "Metadata"})
	want(t, err, hook.Failed, "expected at most 1")
	if err := inst.Stop(t.Context()); err != nil || inst.Exit().Signal != "" {
		t.Errorf("%v, exit %+v", err, inst.Exit())
	}
}
