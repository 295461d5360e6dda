package grpcplugin_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/schema/protoschema"
)

// TestNoSocket checks the error for a path that is not a socket.
func TestNoSocket(t *testing.T) {
	runnertest.NothingLeft(t)
	e := fails(t, fake(t, "no socket", ""), hook.Handshake, "connection refused")
	if e.Reason != grpcplugin.ReasonNoConnection {
		t.Errorf("reason %q", e.Reason)
	}
}

// TestPadded checks that pyplug accepts a certificate that go-plugin's hosts reject, and records
// that as evidence.
func TestPadded(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := fake(t, "padded", "")
	cfg.MTLS = true
	inst := started(t, cfg)
	if err := inst.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	notes := inst.Evidence().Line.Notes
	if len(notes) != 1 || !notes[0].Refused || !strings.Contains(notes[0].Text, "padded") {
		t.Errorf("notes %+v, want one that is refused", notes)
	}
}

// TestTooLarge checks that a message that is too large fails only its call, and that the error
// distinguishes pyplug's limits from the plugin's.
func TestTooLarge(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := fake(t, "serve", "")
	cfg.MaxMessage = 64 << 10
	inst := started(t, cfg)
	_, err := inst.Call(t.Context(), hook.Call{Hook: "Metadata"})
	e := want(t, err, hook.Failed, "the answer has 1048580 bytes, expected at most 65536")
	if len(e.Hints) != 1 || !e.Begun || e.Status != nil {
		t.Errorf("got %+v", e)
	}
	_, err = inst.Call(t.Context(), encode(t, "Chat", map[string]string{"text": strings.Repeat("x", 100<<10)}))
	if e := want(t, err, hook.Request, "expected at most 65536"); len(e.Hints) != 1 || e.Begun {
		t.Errorf("got %+v", e)
	}
	const theirs = "grpc: received message larger than max (5003 vs. 1024)"
	_, err = inst.Call(t.Context(), encode(t, "Fail", map[string]string{"text": theirs}))
	if e := want(t, err, hook.Failed, theirs); e.Status == nil || e.Status.Code != "RESOURCE_EXHAUSTED" {
		t.Errorf("got %+v", e)
	}
	if _, err := inst.Call(t.Context(), words(t, "Echo", "text=after it")); err != nil {
		t.Error(err)
	}
}

// TestReflectionV1 checks a plugin that supports only the newer version of reflection.
func TestReflectionV1(t *testing.T) {
	runnertest.NothingLeft(t)
	inst := started(t, fake(t, "reflection v1 only", ""))
	if s, err := inst.Describe(t.Context(), schema.Query{}); err != nil || len(s.Hooks) == 0 {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestExtra checks that descriptors that a user named are added to those of reflection or files.
func TestExtra(t *testing.T) {
	proto := func(file, text string) func() ([]protoschema.Source, error) {
		path := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(path, []byte("syntax = \"proto3\"; package zoo; "+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return protoFile(path)
	}
	const text, number = "message Text { string text = 1; }", "message Text { int64 text = 1; }"
	const absent = " service Mine { rpc Echo(Text) returns (Text); }"
	const service = absent + " service Zoo { rpc Nothing(Text) returns (Text); rpc Echo(Text) returns (Text); }"
	for name, test := range map[string]struct {
		behavior       string
		sources, extra func() ([]protoschema.Source, error)
		has            []string
		disagree       []string // the names of the two contradicting sources
	}{
		"reflection and more": {"serve", nil, proto("mine.proto", text+absent), []string{"Zoo/Echo", "Mine/Echo"}, nil},
		"files and more":      {"carriage return", proto("its.proto", text), proto("mine.proto", text+service), []string{"Zoo/Echo", "Mine/Echo"}, nil},
		"alone":               {"carriage return", nil, proto("mine.proto", text+service), []string{"Zoo/Echo", "Mine/Echo"}, nil},
		"against reflection":  {"serve", nil, proto("mine.proto", number), nil, []string{"server reflection", "mine.proto"}},
		"against files":       {"carriage return", proto("its.proto", text), proto("mine.proto", number), nil, []string{"its.proto", "mine.proto"}},
		"files unasked":       {"serve", proto("mine.proto", number), nil, []string{"Zoo/Echo"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			cfg := fake(t, test.behavior, "")
			if cfg.Sources = test.sources; test.extra != nil {
				var err error
				if cfg.Extra, err = test.extra(); err != nil {
					t.Fatal(err)
				}
			}
			inst := started(t, cfg)
			s, err := inst.Describe(t.Context(), schema.Query{})
			if test.disagree != nil {
				e := want(t, err, hook.Request, "disagree about zoo.Text")
				if e.Reason != protoschema.Disagree || len(e.Hints) != 2 || !contains(e.Error(), test.disagree...) {
					t.Errorf("got %v, want both sides", e)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, h := range s.Hooks {
				names = append(names, h.Name)
			}
			for _, name := range test.has {
				if !slices.Contains(names, name) {
					t.Errorf("got %q, want %s in it", names, name)
				}
			}
		})
	}
}

func contains(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

// TestSourcesAhead checks that Sources is called once per launch, while the plugin starts, and that
// a request does not wait for Sources after its context has ended.
func TestSourcesAhead(t *testing.T) {
	runnertest.NothingLeft(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	cfg := fake(t, "carriage return", "")
	cfg.Sources = func() ([]protoschema.Source, error) {
		close(asked)
		<-answer
		return nil, nil
	}
	inst := started(t, cfg)
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := inst.Describe(ctx, schema.Query{})
	want(t, err, hook.Canceled, "")
	close(answer)
	if _, err := inst.Describe(t.Context(), schema.Query{}); err != nil {
		t.Error(err)
	}
}
