package grpcplugin_test

import (
	"os"
	"testing"

	"google.golang.org/grpc"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// leaving is a plugin that has a health service, and exits at any other call.
func leaving(string) {
	s := grpc.NewServer(grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error {
		os.Exit(3)
		return nil
	}))
	serveBy(s, listen(), printLine("\n"))
}

func init() { behaviors["leaving"] = leaving }

// TestDescribeDying has a plugin exit during a reflection request. Describe reports the exit,
// although files describe the plugin.
func TestDescribeDying(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := fake(t, "leaving", "")
	cfg.Python = true // so that go-plugin opens no streams to the plugin
	cfg.Sources = zoo(t).Sources
	s, err := started(t, cfg).Describe(t.Context(), schema.Query{})
	if e := want(t, err, hook.Crash, ""); e.Exit == nil || e.Exit.Code != 3 {
		t.Errorf("exit %+v of %v, described %+v", e.Exit, e, s)
	}
}
