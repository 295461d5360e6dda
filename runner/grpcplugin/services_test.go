package grpcplugin_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
)

// The methods that a plugin may have for its host.
const (
	checkHealth = "/grpc.health.v1.Health/Check"
	shutdown    = "/plugin.GRPCController/Shutdown"
	stdio       = "/plugin.GRPCStdio/StreamStdio"
	broker      = "/plugin.GRPCBroker/StartStream"
	reflectsV1  = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
	reflectsV0  = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
)

// forHosts are all of them.
var forHosts = []string{checkHealth, shutdown, stdio, broker, reflectsV1, reflectsV0}

// serves wants exactly these of the methods to be served.
func serves(t *testing.T, inst *grpcplugin.Instance, asked []string, served ...string) {
	t.Helper()
	got, err := inst.Serves(t.Context(), asked...)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, method := range asked {
		want[method] = false
	}
	for _, method := range served {
		want[method] = true
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, served)
	}
}

// unharmed wants a plugin that was asked what it serves to work as before.
func unharmed(t *testing.T, inst *grpcplugin.Instance, call hook.Call) {
	t.Helper()
	ctx, cancel := hook.WithLimit(t.Context(), runnertest.WaitTimeout)
	defer cancel()
	if _, err := inst.Call(ctx, call); err != nil {
		t.Errorf("a call after the question: %v", err)
	}
	select {
	case <-inst.Done():
		t.Error("the plugin has exited")
	default:
	}
}

// TestServes asks again at once, when the streams of the first time may not have
// ended yet.
func TestServes(t *testing.T) {
	for name, test := range map[string]struct {
		cfg    func(t *testing.T) grpcplugin.Config
		served []string
	}{
		"python": {func(t *testing.T) grpcplugin.Config { return zoo(t) }, []string{checkHealth}},
		"all": {func(t *testing.T) grpcplugin.Config { return zoo(t, "--controller", "--reflection") },
			[]string{checkHealth, shutdown, reflectsV0}},
		"one thread": {func(t *testing.T) grpcplugin.Config { return zoo(t, "--controller", "--reflection", "--workers=1") },
			[]string{checkHealth, shutdown, reflectsV0}},
		"no health": {func(t *testing.T) grpcplugin.Config { return zoo(t, "--controller", "--health=none") },
			[]string{shutdown}},
		"not known as python": {func(t *testing.T) grpcplugin.Config {
			cfg := zoo(t, "--controller")
			cfg.Env = proc.Environ(cfg.Env, false, []string{"PYTHONUNBUFFERED=1"})
			cfg.Python = false
			return cfg
		}, []string{checkHealth, shutdown}},
		"asyncio": {func(t *testing.T) grpcplugin.Config {
			cfg := zoo(t)
			cfg.Args = []string{filepath.Join(filepath.Dir(cfg.Args[0]), "aio.py")}
			return cfg
		}, []string{checkHealth}},
		"go": {func(t *testing.T) grpcplugin.Config { return fake(t, "serve", "") },
			[]string{checkHealth, shutdown, stdio, broker, reflectsV1, reflectsV0}},
		"go without go-plugin": {func(t *testing.T) grpcplugin.Config { return fake(t, "reflection v1 only", "") },
			[]string{checkHealth, reflectsV1}},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			inst := started(t, test.cfg(t))
			serves(t, inst, forHosts, test.served...)
			serves(t, inst, forHosts, test.served...)
			unharmed(t, inst, words(t, "Echo", "text=x"))
		})
	}
}

// TestServesRunsNothing asks for methods that would end the plugin, or say so.
func TestServesRunsNothing(t *testing.T) {
	methods := []string{"/zoo.Zoo/Leave", "/zoo.Zoo/Hang", "/zoo.Zoo/Print", "/zoo.Zoo/Count", "/zoo.Zoo/Chat"}
	for name, cfg := range map[string]func() grpcplugin.Config{
		"python": func() grpcplugin.Config { return zoo(t, "--workers=1") },
		"go":     func() grpcplugin.Config { return fake(t, "serve", "") },
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			cfg := cfg()
			var printed []string
			cfg.Output = func(_, text string, _ int) { printed = append(printed, text) }
			inst := started(t, cfg)
			serves(t, inst, append([]string{"/nowhere.Nothing/Leave"}, methods...), methods...)
			unharmed(t, inst, words(t, "Echo", "text=x"))
			inst.Stop(t.Context())
			if len(printed) > 0 {
				t.Errorf("printed %q", printed)
			}
		})
	}
}

// TestServesWhileBusy asks a plugin whose only thread works on a call.
func TestServesWhileBusy(t *testing.T) {
	runnertest.NothingLeft(t)
	runnertest.Retry(t, func() error {
		inst, busy, cancel := hanging(t, "--controller")
		serves(t, inst, forHosts, checkHealth, shutdown)
		cancel()
		want(t, <-busy, hook.Canceled, "")
		_, err := inst.Call(t.Context(), words(t, "Echo", "text=x"))
		return err // of a plugin that did not end the call in time
	})
}

// odd is a plugin that has a health service, and an answer to everything else.
func odd(arg string) {
	s := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		switch arg {
		case "leave":
			os.Exit(3)
		case "hang":
			<-stream.Context().Done()
			return stream.Context().Err() // an answer could come before the caller's own time is up
		case "refuse":
			return status.Error(codes.PermissionDenied, "not you")
		}
		return stream.SendMsg(new(emptypb.Empty))
	}))
	serveBy(s, listen(), printLine("\n"))
}

func init() { behaviours["odd"] = odd }

func TestServesFails(t *testing.T) {
	runnertest.NothingLeft(t)
	oddly := func(arg string) *grpcplugin.Instance {
		cfg := fake(t, "odd", arg)
		cfg.Python = true // go-plugin opens no streams on it
		return started(t, cfg)
	}
	ask := func(inst *grpcplugin.Instance) error {
		_, err := inst.Serves(t.Context(), forHosts...)
		return err
	}
	inst := oddly("hang")
	brief, end := hook.WithLimit(t.Context(), 300*time.Millisecond)
	defer end()
	_, err := inst.Serves(brief, forHosts...)
	want(t, err, hook.Timeout, "no answer about which methods are served within 300ms")
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	_, err = inst.Serves(ctx, forHosts...)
	if e := want(t, err, hook.Canceled, ""); !errors.Is(e, enough) {
		t.Errorf("got %v", e)
	}
	if err := inst.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	inst.Stop(t.Context())
	want(t, ask(inst), hook.Canceled, "was stopped")

	e := want(t, ask(oddly("leave")), hook.Crash, "")
	if e.Exit == nil || e.Exit.Code != 3 {
		t.Errorf("exit %+v", e.Exit)
	}
	want(t, ask(oddly("answer")), hook.Failed, "answers a method that does not exist")
	e = want(t, ask(oddly("refuse")), hook.Failed, "PERMISSION_DENIED: not you")
	if e.Status == nil || e.Status.Code != "PERMISSION_DENIED" {
		t.Errorf("status %+v", e.Status)
	}
}

// TestDescribeDying has a plugin exit while it is asked what it serves. It is not described by
// the files alone, which have services that it may not serve.
func TestDescribeDying(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := fake(t, "odd", "leave")
	cfg.Python = true // go-plugin opens no streams on it
	cfg.Sources = zoo(t).Sources
	s, err := started(t, cfg).Describe(t.Context(), schema.Query{})
	if e := want(t, err, hook.Crash, ""); e.Exit == nil || e.Exit.Code != 3 {
		t.Errorf("exit %+v of %v, described %+v", e.Exit, e, s)
	}
}

// BenchmarkServes is the question for four methods.
func BenchmarkServes(b *testing.B) {
	for name, cfg := range map[string]func() grpcplugin.Config{
		"python": func() grpcplugin.Config { return zoo(b, "--controller") },
		"go":     func() grpcplugin.Config { return fake(b, "serve", "") },
	} {
		b.Run(name, func(b *testing.B) {
			inst, err := grpcplugin.New(cfg()).Launch(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			defer inst.Stop(b.Context())
			for b.Loop() {
				if _, err := inst.(*grpcplugin.Instance).Serves(b.Context(), shutdown, stdio, broker, reflectsV1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
