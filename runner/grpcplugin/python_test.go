package grpcplugin_test

import (
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// want checks that err is a *hook.Error of a kind with these words, and returns it.
func want(t *testing.T, err error, kind hook.Kind, words string) *hook.Error {
	t.Helper()
	var e *hook.Error
	if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Error(), words) {
		t.Fatalf("got %#v (%v), want %v with %q", err, err, kind, words)
	}
	return e
}

// messages returns a client stream.
func messages(texts ...string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for _, text := range texts {
			if !yield(json.RawMessage(text), nil) {
				return
			}
		}
	}
}

func TestPythonCalls(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := zoo(t)
	cfg.Metadata = []string{"tenant", "blue"}
	cfg.MaxMessage = 1 << 20
	inst := started(t, cfg)
	call := func(c hook.Call) (string, error) {
		items := []string{}
		c.Emit = func(item hook.Item) error { items = append(items, string(item.Value)); return nil }
		r, err := inst.Call(t.Context(), c)
		if r.Streamed {
			return "[" + strings.Join(items, ",") + "]", err
		}
		return string(r.Value), err
	}
	for _, test := range []struct {
		call hook.Call
		want string
	}{
		{words(t, "Echo", "text=hello"), `{"text":"hello"}`},
		{words(t, "Zoo/Echo", "text=hello"), `{"text":"hello"}`},
		{hook.Call{Hook: "zoo.Zoo/Echo"}, `{}`},
		{hook.Call{Hook: "Echo", Input: messages(`{"text":"in"}`)}, `{"text":"in"}`},
		{words(t, "Metadata", "text=tenant"), `{"text":"blue"}`},
		{hook.Call{Hook: "Sum", Input: messages(`{"n":1}`, `{"n":2}`, `{"n":"39"}`)}, `{"n":"42"}`},
		{hook.Call{Hook: "Chat", Input: messages(`{"text":"a"}`, `{"text":"b"}`)}, `[{"text":"a"},{"text":"b"}]`},
		{words(t, "Chat", "text=a"), `[{"text":"a"}]`},
		{words(t, "Count", "n=0"), `[]`},
	} {
		if got, err := call(test.call); err != nil || got != test.want {
			t.Errorf("%s: got %s, %v; want %s", test.call.Hook, got, err, test.want)
		}
	}

	_, err := call(hook.Call{Hook: "Abort"})
	e := want(t, err, hook.Failed, "INVALID_ARGUMENT: not this")
	if s := e.Status; s == nil || s.Code != "INVALID_ARGUMENT" || s.Message != "not this" || len(s.Details) != 1 ||
		string(s.Details[0]) != `{"@type":"type.googleapis.com/zoo.Text","text":"more of it"}` {
		t.Errorf("status %+v, details %s", e.Status, e.Status.Details)
	}
	_, err = call(hook.Call{Hook: "Absent"})
	if e := want(t, err, hook.Request, "does not implement Zoo/Absent"); e.Status == nil || e.Status.Code != "UNIMPLEMENTED" {
		t.Errorf("status %+v", e.Status)
	}
	_, err = call(hook.Call{Hook: "Chat", Input: messages(`{"text":"a"}`, `{"nope":1}`)})
	if e := want(t, err, hook.Request, "input message 2"); !e.Begun {
		t.Error("the plugin has the first message, but the call counts as not begun")
	}
	_, err = call(hook.Call{Hook: "Echo", Input: messages(`{}`, `{}`)})
	want(t, err, hook.Request, "several messages")
	_, err = call(hook.Call{Hook: "Echo", Args: hook.Args{JSON: json.RawMessage(`["a"]`)}})
	want(t, err, hook.Request, "no positions")
	_, err = call(encode(t, "Echo", map[string]string{"text": strings.Repeat("x", 2<<20)}))
	want(t, err, hook.Request, "expected at most 1048576")
	broken := errors.New("the file ends early")
	_, err = call(hook.Call{Hook: "Sum", Input: func(yield func(json.RawMessage, error) bool) { yield(nil, broken) }})
	if e := want(t, err, hook.Request, ""); !errors.Is(e, broken) {
		t.Errorf("got %v", e)
	}
}

func TestPythonDescribe(t *testing.T) {
	for name, args := range map[string][]string{"files": nil, "reflection": {"--reflection"}} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			cfg := zoo(t, args...)
			if name == "reflection" {
				cfg.Sources = nil
			}
			inst := started(t, cfg)
			s, err := inst.Describe(t.Context(), schema.Query{})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Hooks) != 13 {
				t.Errorf("%d hooks, want 13", len(s.Hooks))
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		runnertest.NothingLeft(t)
		cfg := zoo(t)
		cfg.Sources = nil
		_, err := started(t, cfg).Call(t.Context(), hook.Call{Hook: "Echo"})
		if e := want(t, err, hook.Request, "no server reflection"); len(e.Hints) != 1 {
			t.Errorf("hints %q", e.Hints)
		}
	})
}

func TestPythonHealth(t *testing.T) {
	for name, test := range map[string]struct {
		args  []string
		words string // part of the error, or empty if the start succeeds
	}{
		"not serving":     {[]string{"--health=NOT_SERVING"}, "is NOT_SERVING, expected SERVING"},
		"unknown":         {[]string{"--health=UNKNOWN"}, "is UNKNOWN"},
		"other service":   {[]string{"--service=other"}, ""},
		"hangs":           {[]string{"--health=hang"}, "no answer from the health service within 500ms"},
		"none":            {[]string{"--health=none"}, ""},
		"one thread":      {[]string{"--workers=1"}, ""},
		"unix":            {[]string{"--unix"}, ""},
		"child has pipes": {[]string{"--child"}, ""},
		"noise":           {[]string{"--noise"}, ""},
		"gzip":            {[]string{"--compression=Gzip"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			cfg := zoo(t, test.args...)
			if name == "hangs" {
				cfg.HealthTimeout = 500 * time.Millisecond
			}
			if test.words != "" {
				fails(t, cfg, hook.Unhealthy, test.words)
				return
			}
			inst := started(t, cfg)
			if err := inst.Probe(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := inst.Call(t.Context(), words(t, "Echo", "text="+strings.Repeat("x", 1000))); err != nil { // enough to be compressed
				t.Error(err)
			}
			e := inst.Evidence()
			if (e.Unhealthy != nil) != (name == "none" || name == "other service") || e.Line.App != 1 || (e.NoiseLines == 3) != (name == "noise") {
				t.Errorf("evidence %+v", e)
			}
			if err := inst.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPythonStops checks that a stop runs the plugin's finally block, with and without a
// controller, and does not wait for an RPC that the plugin does not serve.
func TestPythonStops(t *testing.T) {
	for name, args := range map[string][]string{"signal": nil, "controller": {"--controller"}} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			marker := filepath.Join(t.TempDir(), "bye")
			cfg := zoo(t, append(args, "--marker="+marker)...)
			var printed []string
			cfg.Output = func(_, text string, _ int) { printed = append(printed, text) }
			inst := started(t, cfg)
			inst.Stop(t.Context())
			if _, err := os.Stat(marker); err != nil {
				t.Error("finally did not run")
			}
			if exit := inst.Exit(); !exit.Stopped || exit.Signal == "SIGKILL" {
				t.Errorf("exit %+v", exit)
			}
			if len(printed) > 0 {
				t.Errorf("the end was printed: %q", printed)
			}
		})
	}
}

// TestPythonMutualTLS checks mutual TLS with grpcio.
func TestPythonMutualTLS(t *testing.T) {
	grpcio(t)
	runnertest.NothingLeft(t)
	cert, key := authority(t)
	cfg := zoo(t)
	cfg.Args = []string{filepath.Join(filepath.Dir(cfg.Args[0]), "mtls.py"), cert, key}
	cfg.MTLS = true
	inst := started(t, cfg)
	if r, err := inst.Call(t.Context(), words(t, "Echo", "text=x")); err != nil || string(r.Value) != `{"text":"x"}` {
		t.Errorf("got %s, %v", r.Value, err)
	}
}

func TestPythonBroken(t *testing.T) {
	grpcio(t)
	t.Run("no module", func(t *testing.T) {
		runnertest.NothingLeft(t)
		file := filepath.Join(t.TempDir(), "plugin.py")
		if err := os.WriteFile(file, []byte("import os\nimport nosuchmodule\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := zoo(t)
		cfg.Args = []string{file}
		e := fails(t, cfg, hook.Start, "No module named 'nosuchmodule'")
		if e.Python == nil || len(e.Python.Frames) != 1 || e.Python.Frames[0].Line != 2 || e.Exit.Code != 1 {
			t.Errorf("got %+v, exit %+v", e.Python, e.Exit)
		}
	})
	t.Run("segmentation fault", func(t *testing.T) {
		runnertest.NothingLeft(t)
		cfg := zoo(t)
		cfg.Args = []string{"-c", "import ctypes\nctypes.string_at(0)"}
		e := fails(t, cfg, hook.Start, "")
		if e.Exit == nil || e.Exit.Signal != "SIGSEGV" {
			t.Errorf("exit %+v", e.Exit)
		}
	})
}

// TestOfficialExample runs the Python example of the go-plugin module in place. Its port is fixed,
// and only its generated code has descriptors.
func TestOfficialExample(t *testing.T) {
	python := grpcio(t)
	runnertest.NothingLeft(t)
	runnertest.ExamplePort(t)
	example := runnertest.Example(t)
	cfg := grpcplugin.Config{
		Path: python, Args: []string{filepath.Join(example, "plugin-python", "plugin.py")}, Python: true,
		Env: proc.Environ(os.Environ(), false, []string{"PYTHONDONTWRITEBYTECODE=1"}), Dir: t.TempDir(),
		CookieKey: "BASIC_PLUGIN", CookieValue: "hello",
		Sources: protoFile(filepath.Join(example, "proto", "kv.proto")),
	}
	inst := started(t, cfg)
	if _, err := inst.Call(t.Context(), words(t, "KV/Put", "key=hello", "value=world")); err != nil {
		t.Fatal(err)
	}
	r, err := inst.Call(t.Context(), words(t, "KV/Get", "key=hello"))
	var got struct{ Value []byte }
	if err != nil || json.Unmarshal(r.Value, &got) != nil || string(got.Value) != "world\n\nWritten from plugin-python" {
		t.Errorf("got %s, %v", r.Value, err)
	}
	_, err = inst.Call(t.Context(), words(t, "KV/Get", "key=nothing"))
	if e := want(t, err, hook.Failed, "No such file"); e.Status.Code != "UNKNOWN" {
		t.Errorf("got %+v", e.Status)
	}
	// A second plugin on the same port prints a valid handshake, too.
	second, err := grpcplugin.New(cfg).Launch(t.Context())
	var foreign *hook.Error
	if second != nil || (!errors.As(err, &foreign) || foreign.Reason != grpcplugin.ReasonForeignAddress) && !skipOwner(t) {
		t.Errorf("got %v, %v; want the address refused", second, err)
	}
	t.Log(err)
}
