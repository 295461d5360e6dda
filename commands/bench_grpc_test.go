//go:build unix

package commands_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// BenchmarkFigureGRPC calls a gRPC plugin once, alternately with pyplug and with an ordinary host
// of go-plugin. It reports how much longer each takes than the plugin itself needs: the time to its
// handshake, plus the time from the request to exit until its end. Python spends most of the latter
// in its garbage collector.
//
//	go test -run '^$' -bench FigureGRPC -benchtime 30x ./commands
func BenchmarkFigureGRPC(b *testing.B) {
	pyplug, host := binary(b), stockHost(b)
	python, zoo := runnertest.GRPCIO(b), plugin(b, "grpc/zoo.py")
	kv := runnertest.GoExample(b)
	dir := b.TempDir()
	for name, c := range map[string]struct {
		env    []string
		plugin []string // the program and its arguments
		pyplug []string // the words after "pyplug run"
		method string
		signal syscall.Signal // the signal that ends the plugin, or 0 if its controller does
	}{
		"python without controller": {
			[]string{"ZOO_COOKIE=monkey"}, []string{python, zoo},
			[]string{"--python", python, "--cookie", "ZOO_COOKIE=monkey", zoo, "Echo", "text=hello"}, "/zoo.Zoo/Echo", syscall.SIGINT,
		},
		"python with controller": {
			[]string{"ZOO_COOKIE=monkey", "ZOO=--controller"}, []string{python, zoo},
			[]string{"--python", python, "--cookie", "ZOO_COOKIE=monkey", "--env", "ZOO=--controller", zoo, "Echo", "text=hello"},
			"/zoo.Zoo/Echo", 0,
		},
		"go": {
			[]string{"BASIC_PLUGIN=hello"}, []string{kv},
			[]string{"--cookie", "BASIC_PLUGIN=hello", "--cwd", dir, kv, "Get", "key=hello"}, "/proto.KV/Get", syscall.SIGTERM,
		},
	} {
		b.Run(name, func(b *testing.B) {
			if err := os.WriteFile(filepath.Join(dir, "kv_hello"), []byte("world"), 0o600); err != nil {
				b.Fatal(err)
			}
			b.Chdir(dir)
			for _, e := range c.env {
				key, value, _ := strings.Cut(e, "=")
				b.Setenv(key, value)
			}
			key, value, _ := strings.Cut(c.env[0], "=")
			hosted := append([]string{key, value, c.method, "hello"}, c.plugin...)
			var starts, ends, ours, theirs []time.Duration
			for b.Loop() {
				start, end := own(b, c.plugin, c.signal)
				starts, ends = append(starts, start), append(ends, end)
				ours = append(ours, timed(b, 0, pyplug, append([]string{"run"}, c.pyplug...)...))
				theirs = append(theirs, timed(b, 0, host, hosted...))
			}
			start, end := median(starts), median(ends)
			report(b, "ms-handshake", start)
			report(b, "ms-own-end", end)
			report(b, "ms-over-both", median(ours)-start-end)
			report(b, "ms-host-over-both", median(theirs)-start-end)
			b.ReportMetric(0, "ns/op")
		})
	}
}

func report(b *testing.B, unit string, d time.Duration) {
	b.Helper()
	b.ReportMetric(float64(d.Microseconds())/1000, unit)
}

// own starts a plugin as a host does, and ends it with a signal or through its controller. It
// returns the time until its handshake, and from the request to exit until its end.
func own(b *testing.B, command []string, signal syscall.Signal) (start, end time.Duration) {
	b.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1", "PLUGIN_PROTOCOL_VERSIONS=1", "PLUGIN_MIN_PORT=10000", "PLUGIN_MAX_PORT=25000")
	began := time.Now()
	line, err := bufio.NewReader(reading(b, cmd)).ReadString('\n')
	start = time.Since(began)
	if err != nil {
		b.Fatal(err)
	}
	ask := func() error { return cmd.Process.Signal(signal) }
	if signal == 0 {
		ask = controller(b, strings.Split(line, "|")[3])
	}
	began = time.Now()
	if err := ask(); err != nil {
		b.Fatal(err)
	}
	_ = cmd.Wait() // a signal may have ended it
	return start, time.Since(began)
}

// controller connects to a plugin, and returns a function that asks it to exit.
func controller(b *testing.B, address string) func() error {
	b.Helper()
	cc, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cc.Close() })
	var none emptypb.Empty
	// Any answer shows that the connection is ready.
	_ = cc.Invoke(b.Context(), "/plugin.GRPCController/Nothing", &none, &none)
	return func() error { return cc.Invoke(b.Context(), "/plugin.GRPCController/Shutdown", &none, &none) }
}

// stockHost builds the host that pyplug is compared with.
func stockHost(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stockhost")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./testdata/stockhost")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}
