//go:build unix

package commands_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/proc"
	"github.com/pyplug/pyplug/runner/pyworker"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// peer is one way to keep a Python function ready for calls.
type peer struct {
	name string
	// start returns when the first call can be made. stop returns when all processes are gone.
	start func(b *testing.B) (call func() error, stop func())
}

// BenchmarkPeers starts each peer and calls an echo of a few bytes, in alternation, and reports the
// medians and their ratios to pyplug's. Pin it to one core, to measure the work rather than how
// long a core takes to wake up:
//
//	taskset -c 1 go test -run '^$' -bench Peers -benchtime 40x ./commands
//
// It installs promptfoo's package with npm, and omits promptfoo if that fails.
func BenchmarkPeers(b *testing.B) {
	peers := []peer{pyplugPeer(b), grpcPeer(b)}
	if wrapper := promptfoo(b); wrapper != "" {
		peers = append(peers, promptfooPeer(runnertest.Python(b), wrapper))
	}
	const starts = 10
	const inARow = 50 // calls of one peer in a row, because calls of another peer replace the caches
	ready, warm := make([][]time.Duration, len(peers)), make([][]time.Duration, len(peers))
	calls := make([]func() error, len(peers))
	for n := range starts {
		for i, p := range peers {
			began := time.Now()
			call, stop := p.start(b)
			ready[i] = append(ready[i], time.Since(began))
			if n < starts-1 {
				stop()
				continue
			}
			defer stop()
			calls[i] = call
		}
	}
	for b.Loop() {
		for i, call := range calls {
			for range inARow {
				began := time.Now()
				if err := call(); err != nil {
					b.Fatalf("%s: %v", peers[i].name, err)
				}
				warm[i] = append(warm[i], time.Since(began))
			}
		}
	}
	for i, p := range peers {
		start, call := median(ready[i]), median(warm[i])
		report(b, "ms-ready-"+p.name, start)
		b.ReportMetric(float64(call.Nanoseconds())/1000, "µs-call-"+p.name)
		if i > 0 {
			b.ReportMetric(float64(start)/float64(median(ready[0])), "x-ready-"+p.name)
			b.ReportMetric(float64(call)/float64(median(warm[0])), "x-call-"+p.name)
		}
	}
	b.ReportMetric(0, "ns/op")
}

func pyplugPeer(b *testing.B) peer {
	launcher := pyworker.New(pyworker.Config{
		Python: runnertest.Python(b), Plugin: plugin(b, "conformance.py"), Env: proc.Environ(os.Environ(), false, nil),
	})
	return peer{"pyplug", func(b *testing.B) (func() error, func()) {
		inst, err := launcher.Launch(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		call := hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte(`["Hello"]`)}}
		return func() error {
			_, err := inst.Call(b.Context(), call)
			return err
		}, func() { _ = inst.Stop(b.Context()) }
	}}
}

// grpcPeer is a Python gRPC server, and an ordinary client in Go.
func grpcPeer(b *testing.B) peer {
	python, zoo := runnertest.GRPCIO(b), plugin(b, "grpc/zoo.py")
	b.Setenv("ZOO_COOKIE", "monkey")
	return peer{"grpc", func(b *testing.B) (func() error, func()) {
		cmd := exec.Command(python, zoo)
		cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1", "PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000")
		line, err := bufio.NewReader(reading(b, cmd)).ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		cc, err := grpc.NewClient("passthrough:///"+strings.Split(line, "|")[3], grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			b.Fatal(err)
		}
		call := func() error { // StringValue has the same encoding as the message of Echo
			return cc.Invoke(b.Context(), "/zoo.Zoo/Echo", wrapperspb.String("Hello"), &wrapperspb.StringValue{}, grpc.WaitForReady(true))
		}
		if err := call(); err != nil {
			b.Fatal(err)
		}
		return call, func() {
			_ = cc.Close()
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait() // the signal ended it
		}
	}}
}

// promptfoo installs promptfoo's package and returns its worker, or "" if that fails.
func promptfoo(b *testing.B) string {
	dir := b.TempDir()
	fetch := exec.CommandContext(b.Context(), "npm", "pack", "--silent", "promptfoo@0.121.20")
	fetch.Dir = dir
	name, err := fetch.Output()
	if err == nil {
		err = exec.Command("tar", "-xzf", filepath.Join(dir, strings.TrimSpace(string(name))), "-C", dir).Run()
	}
	if err != nil {
		b.Log("without promptfoo: ", err)
		return ""
	}
	return filepath.Join(dir, "package/dist/src/python/persistent_wrapper.py")
}

// promptfooPeer is promptfoo's worker. Each call uses it as promptfoo's Node side does: with a
// directory, a file with the arguments, a line on standard input, a line on standard output, and a
// file with the answer.
func promptfooPeer(python, wrapper string) peer {
	return peer{"promptfoo", func(b *testing.B) (func() error, func()) {
		cmd := exec.Command(python, wrapper, plugin(b, "conformance.py"), "echo")
		in, pipe := talking(b, cmd)
		out := bufio.NewReader(pipe)
		if err := until(out, "READY\n"); err != nil {
			b.Fatal(err)
		}
		return func() error { return viaFiles(in, out) }, func() {
			fmt.Fprintln(in, "SHUTDOWN")
			_ = cmd.Wait()
		}
	}}
}

func viaFiles(in io.Writer, out *bufio.Reader) error {
	dir, err := os.MkdirTemp("", "promptfoo-worker-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	request, response := filepath.Join(dir, "request.json"), filepath.Join(dir, "response.json")
	if err := os.WriteFile(request, []byte(`["Hello"]`), 0o600); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(in, "CALL|echo|%s|%s\n", request, response); err != nil {
		return err
	}
	if err := until(out, "DONE|"+response+"\n"); err != nil {
		return err
	}
	text, err := os.ReadFile(response)
	if err != nil {
		return err
	}
	var answer struct{ Type, Data string }
	if err := json.Unmarshal(text, &answer); err != nil || answer.Data != "Hello" {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

// until reads up to and including line.
func until(out *bufio.Reader, line string) error {
	for {
		got, err := out.ReadString('\n')
		if err != nil || got == line {
			return err
		}
	}
}
