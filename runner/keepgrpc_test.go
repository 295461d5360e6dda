package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/plan"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/schema"
	"github.com/pyplug/pyplug/runner/settings"
)

// served returns the configuration of one of the gRPC plugins in testdata.
func served(t *testing.T, name string, env ...string) plan.Config {
	t.Helper()
	python := runnertest.GRPCIO(t)
	root, err := runnertest.Root()
	if err != nil {
		t.Fatal(err)
	}
	return plan.Config{
		Plugin: filepath.Join(root, "testdata", "plugins", "grpc", name), Environ: os.Environ(), Cwd: t.TempDir(),
		Settings: settings.Settings{Python: python, Transport: "grpc", Env: append(env, "PYTHONDONTWRITEBYTECODE=1"), Cookie: "ZOO_COOKIE=monkey"},
	}
}

func TestKeepGRPC(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := served(t, "zoo.py")
	k := keep(t, cfg)
	answers(t, k, call("Echo", `{"text":"a"}`), `{"text":"a"}`)
	if _, err := k.Call(t.Context(), call("Leave", `{"n":3}`)); kindOf(err) != hook.Crash {
		t.Fatalf("got %v, want a crash", err)
	}
	answers(t, k, call("Echo", `{"text":"b"}`), `{"text":"b"}`)
	// Calls run concurrently.
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			if _, err := k.Call(ctx, call("Hang", `{}`)); kindOf(err) != hook.Canceled {
				t.Errorf("got %v, want it canceled", err)
			}
		})
	}
	runnertest.Until(t, "three calls", func() bool { return k.status().Running == 3 })
	answers(t, k, call("Echo", `{"text":"c"}`), `{"text":"c"}`)
	cancel()
	calls.Wait()
	answers(t, k, call("Echo", `{"text":"d"}`), `{"text":"d"}`)
	if err := k.Health(t.Context()); err != nil {
		t.Error(err)
	}
	st := k.status()
	if st.Restarts != 1 || st.Generation != 2 || st.State != hook.StateReady {
		t.Errorf("got %+v", st)
	}
	var at struct {
		Protocol             string
		ProtocolVersion, Pid int
		Test                 bool
		Addr                 struct{ String string }
	}
	if err := json.Unmarshal(st.Attach, &at); err != nil || at.Pid != st.PID || !at.Test || at.Protocol != "grpc" || at.ProtocolVersion != 1 || at.Addr.String == "" {
		t.Errorf("got %+v, %v", at, err)
	}
	if one, err := k.Hooks(t.Context(), schema.Query{Hook: "Echo"}); err != nil || !strings.Contains(string(one.Hooks[0].Template), "text") {
		t.Errorf("got %+v, %v", one, err)
	}
}

// TestKeepSilent has a server hang under load: calls are always running, and all time out. Its
// replacement answers.
func TestKeepSilent(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := served(t, "zoo.py", "MARKER="+filepath.Join(t.TempDir(), "marker"))
	cfg.ProbeEvery, cfg.Timeouts.Probe, cfg.Timeouts.Stop = 200*time.Millisecond, time.Second, time.Second
	k := keep(t, cfg)
	within := func(name string) error {
		ctx, cancel := hook.WithLimit(t.Context(), time.Second)
		defer cancel()
		_, err := k.Call(ctx, call(name, `{"text":"a"}`))
		return err
	}
	if err := within("Stubborn"); kindOf(err) != hook.Timeout {
		t.Fatalf("got %v, want a timeout", err)
	}
	var calls sync.WaitGroup
	for range 3 {
		calls.Go(func() {
			runnertest.Until(t, "the replacement answers", func() bool { return within("Echo") == nil })
		})
	}
	calls.Wait()
	if st := k.status(); st.Generation < 2 || st.RestartCauses["probe"] == 0 {
		t.Errorf("got %+v, want another process", st)
	}
}

// TestKeepBusy has a server with one thread, which does not answer probes during a call.
func TestKeepBusy(t *testing.T) {
	runnertest.NothingLeft(t)
	runnertest.Retry(t, func() error {
		marker := filepath.Join(t.TempDir(), "marker")
		k := keep(t, served(t, "zoo.py", "ZOO=--workers=1", "MARKER="+marker))
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		calls.Go(func() {
			if _, err := k.Call(ctx, call("Hang", `{}`)); kindOf(err) != hook.Canceled {
				t.Errorf("got %v, want it canceled", err)
			}
		})
		runnertest.Until(t, "the call", runnertest.Exists(marker))
		probing, stop := hook.WithLimit(t.Context(), 200*time.Millisecond)
		defer stop()
		if err := k.Health(probing); err != nil {
			t.Errorf("a busy plugin: %v", err)
		}
		cancel()
		calls.Wait()
		answers(t, k, call("Echo", `{"text":"a"}`), `{"text":"a"}`)
		if st := k.status(); st.Generation != 1 { // the server did not end the call in time
			return fmt.Errorf("got %+v, expected the same process", st)
		}
		return nil
	})
}

// TestKeepFixedPort checks that a plugin with a fixed address has only one worker, and that the old
// worker ends before its replacement starts.
func TestKeepFixedPort(t *testing.T) {
	for name, reuse := range map[string]string{"refused": "", "shared": "REUSE=1"} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			port := runnertest.FixedPort(t)
			cfg := served(t, "fixed_port.py", "PORT="+port, reuse)
			if reuse == "" {
				cfg.Env = []string{"PORT=" + port}
			}
			var notes []string
			cfg.Workers, cfg.Note = 2, func(text string) { notes = append(notes, text) }
			k := keep(t, cfg)
			if len(notes) != 1 || !strings.Contains(notes[0], "one worker") || !strings.Contains(notes[0], port) {
				t.Errorf("the notes are %q", notes)
			}
			before := k.status()
			if before.Workers != 1 || before.Ready != 1 || k.status().Concurrency != 100 {
				t.Errorf("got %+v, and %d places", before, k.status().Concurrency)
			}
			for range 2 { // after the first failed replacement, the old worker ends before the new one starts
				if err := k.Restart(t.Context(), "a test"); err != nil {
					t.Fatal(err)
				}
				now := k.status()
				if now.PID == before.PID || now.State != hook.StateReady {
					t.Errorf("got %+v", now)
				}
				before = now
				answers(t, k, call("Echo", `{}`), `{"text":"`+strconv.Itoa(now.PID)+`"}`)
			}
		})
	}
}
