package grpcplugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// skipOwner skips a test on systems that do not report the owner of a socket.
func skipOwner(t *testing.T) bool {
	if runtime.GOOS == "linux" {
		return false
	}
	t.Skip("only Linux says whose a socket is")
	return true
}

func TestConformanceGo(t *testing.T) {
	suite(t, func(t *testing.T) grpcplugin.Config { return fake(t, "serve", "") },
		func(t *testing.T) grpcplugin.Config { return fake(t, "exit", "...") })
}

// TestMutualTLS checks mutual TLS with go-plugin's own AutoMTLS server.
func TestMutualTLS(t *testing.T) {
	runnertest.NothingLeft(t)
	cfg := fake(t, "serve", "")
	cfg.MTLS = true
	inst := started(t, cfg)
	r, err := inst.Call(t.Context(), words(t, "Echo", "text=hello"))
	if err != nil || string(r.Value) != `{"text":"hello"}` {
		t.Errorf("got %s, %v", r.Value, err)
	}
	if inst.Evidence().Line.Cert == nil {
		t.Error("no certificate in the handshake")
	}
}

// TestNoise checks that lines before the handshake are tolerated and recorded as evidence.
func TestNoise(t *testing.T) {
	for name, test := range map[string]struct{ before, noise string }{
		"text": {"loading\n", `"loading"`}, "empty line": {"\n", "an empty line"},
		"long line":      {strings.Repeat("x", 70_000) + "\n", `"` + strings.Repeat("x", 60) + `"… (70000 bytes)`},
		"flood of lines": {strings.Repeat("y\n", 10_000), `"y"`},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			cfg := fake(t, "serve", test.before)
			cfg.Output = nil
			e := started(t, cfg).Evidence()
			if e.NoiseLines != strings.Count(test.before, "\n") {
				t.Errorf("%d lines", e.NoiseLines)
			}
			if !strings.HasPrefix(e.Noise, test.noise) {
				t.Errorf("got %s", e.Noise)
			}
		})
	}
	t.Run("carriage return", func(t *testing.T) {
		runnertest.NothingLeft(t)
		started(t, fake(t, "carriage return", ""))
	})
}

// TestPrintsAfter checks that output after the handshake is read in bounded memory, so that it does
// not block the plugin.
func TestPrintsAfter(t *testing.T) {
	runnertest.NothingLeft(t)
	past := make(chan struct{})
	var longest int
	cfg := fake(t, "prints after", "64")
	before := heap()
	cfg.Output = func(stream, text string, cut int) {
		longest = max(longest, len(text))
		if text == "all printed" {
			close(past)
		}
	}
	inst := started(t, cfg)
	<-past
	if err := inst.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	inst.Stop(t.Context())
	if longest > 16<<10 {
		t.Errorf("a line of %d bytes was printed", longest)
	}
	if grown := heap() - before; grown > 32<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

// heap returns the size of the heap in bytes. It never shrinks.
func heap() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapSys)
}

// TestStdio checks that the output of a Go plugin, which go-plugin's server sends as a stream, is
// printed.
func TestStdio(t *testing.T) {
	runnertest.NothingLeft(t)
	lines := make(chan string, 1)
	cfg := fake(t, "serve", "")
	cfg.Output = func(stream, text string, cut int) {
		if stream == "stdout" {
			lines <- text
		}
	}
	inst := started(t, cfg)
	if _, err := inst.Call(t.Context(), words(t, "Print", "text=out loud")); err != nil {
		t.Fatal(err)
	}
	if got := <-lines; got != "out loud" {
		t.Errorf("got %q", got)
	}
}

// TestShutdown checks that the Shutdown RPC ends the plugin without a signal.
func TestShutdown(t *testing.T) {
	runnertest.NothingLeft(t)
	inst := started(t, fake(t, "serve", ""))
	inst.Stop(t.Context())
	if exit := inst.Exit(); exit.Code != 0 || exit.Signal != "" || !exit.Stopped {
		t.Errorf("got %+v, want code 0", exit)
	}
	var at struct {
		Protocol string
		Pid      int
		Test     bool
		Addr     struct{ Network, String string }
	}
	if err := json.Unmarshal(inst.Attach(), &at); err != nil || at.Protocol != "grpc" || at.Pid <= 0 || at.Addr.String == "" || !at.Test {
		t.Errorf("got %+v, %v", at, err)
	}
	if _, err := inst.Call(t.Context(), hook.Call{Hook: "Echo"}); err == nil {
		t.Error("a call after the end succeeded")
	}
}

// TestNothingOfGoPlugin checks that the goroutines of go-plugin and gRPC end with the instance,
// even if the start fails.
func TestNothingOfGoPlugin(t *testing.T) {
	runnertest.NothingLeft(t)
	theirs := func() (n int) {
		buf := make([]byte, 1<<20)
		for _, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(stack, "hashicorp/go-plugin") || strings.Contains(stack, "google.golang.org/grpc") {
				n++
			}
		}
		return n
	}
	before := theirs()
	inst := started(t, fake(t, "serve", ""))
	if _, err := inst.Call(t.Context(), words(t, "Echo", "text=x")); err != nil {
		t.Fatal(err)
	}
	inst.Stop(t.Context())
	cfg := fake(t, "silent", "")
	cfg.ConnectTimeout = 100 * time.Millisecond
	fails(t, cfg, hook.Handshake, "does not answer within 100ms")
	fails(t, fake(t, "exit", "."), hook.Start, "")
	runnertest.Until(t, "the goroutines of the libraries end", func() bool { return theirs() <= before })
}

// TestCrashFailsAll checks that every call in progress reports the exit.
func TestCrashFailsAll(t *testing.T) {
	runnertest.NothingLeft(t)
	inst := started(t, fake(t, "serve", ""))
	other := make(chan error, 1)
	go func() { // ends with the plugin
		_, err := inst.Call(t.Context(), hook.Call{Hook: "Hang"})
		other <- err
	}()
	runnertest.Until(t, "the other call is under way", func() bool {
		_, err := inst.Call(t.Context(), words(t, "Echo", "text=x"))
		return err == nil
	})
	_, err := inst.Call(t.Context(), hook.Call{Hook: "Leave"})
	want(t, err, hook.Crash, "exited during the call")
	var e *hook.Error
	if err := <-other; !errors.As(err, &e) || e.Kind != hook.Crash && e.Kind != hook.Unavailable {
		t.Errorf("the other call: %v", err)
	}
}

// TestBusy checks that a plugin with one thread is kept while one of its calls prevents it from
// answering.
func TestBusy(t *testing.T) {
	runnertest.NothingLeft(t)
	runnertest.Retry(t, func() error {
		inst, busy, cancel := hanging(t)
		waiting, stop := hook.WithLimit(t.Context(), 300*time.Millisecond)
		defer stop()
		_, err := inst.Call(waiting, words(t, "Echo", "text=behind it"))
		want(t, err, hook.Timeout, "timed out after")
		cancel()
		want(t, <-busy, hook.Canceled, "")
		_, err = inst.Call(t.Context(), words(t, "Echo", "text=after it"))
		return err // the plugin did not end the call in time
	})
}

// hanging starts a zoo whose only thread hangs in a call until cancel is called. busy then receives
// the call's error.
func hanging(t *testing.T) (inst *grpcplugin.Instance, busy <-chan error, cancel context.CancelFunc) {
	t.Helper()
	begun := make(chan struct{})
	cfg := zoo(t, "--workers=1")
	cfg.Output = func(_, text string, _ int) {
		if text == "hanging" {
			close(begun)
		}
	}
	inst = started(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { // ends after cancel
		_, err := inst.Call(ctx, hook.Call{Hook: "Hang"})
		ended <- err
	}()
	<-begun
	return inst, ended, cancel
}

// TestAsyncio calls a plugin on asyncio.
func TestAsyncio(t *testing.T) {
	runnertest.NothingLeft(t)
	runnertest.Retry(t, func() error { return asyncio(t) })
}

// asyncio returns an error if the machine is too slow for the plugin to end a call in time.
func asyncio(t *testing.T) error {
	t.Helper()
	cfg := zoo(t)
	cfg.Args = []string{filepath.Join(filepath.Dir(cfg.Args[0]), "aio.py")}
	var stopping atomic.Bool
	var last []string
	cfg.Output = func(_, text string, _ int) {
		if stopping.Load() {
			last = append(last, text)
		}
	}
	inst := started(t, cfg)
	if r, err := inst.Call(t.Context(), words(t, "Echo", "text=x")); err != nil || string(r.Value) != `{"text":"x"}` {
		t.Errorf("got %s, %v", r.Value, err)
	}
	count, items := words(t, "Count", "n=2"), ""
	count.Emit = func(item hook.Item) error { items += string(item.Value); return nil }
	if _, err := inst.Call(t.Context(), count); err != nil || items != `{"n":"0"}{"n":"1"}` && items != `{}{"n":"1"}` {
		t.Errorf("got %s, %v", items, err)
	}
	_, err := inst.Call(t.Context(), hook.Call{Hook: "Fail"})
	want(t, err, hook.Failed, "on purpose")
	ctx, cancel := hook.WithLimit(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = inst.Call(ctx, hook.Call{Hook: "Hang"})
	want(t, err, hook.Timeout, "timed out after 100ms")
	if err := inst.Probe(t.Context()); err != nil {
		return err
	}
	stopping.Store(true)
	inst.Stop(t.Context())
	if exit := inst.Exit(); !exit.Stopped || exit.Code != 0 || exit.Signal != "" || len(last) > 0 {
		t.Errorf("exit %+v, with the words %q", exit, last)
	}
	return nil
}
