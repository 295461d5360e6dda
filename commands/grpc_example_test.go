//go:build linux

package commands_test

import (
	"bufio"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// says runs pyplug to its end and checks its exit code. Standard output, or standard error for a
// code that is not 0, must match want.
func (s *session) says(t *testing.T, code int, want string) {
	t.Helper()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.ends(t, code)
	text := s.out.String()
	if code != 0 {
		text = s.errs.String()
	}
	if !regexp.MustCompile(want).MatchString(text) {
		t.Errorf("got %q, want %s", text, want)
	}
}

// kv returns the words that start one of go-plugin's own examples. The example keeps its values in
// the directory dir.
func kv(dir string, words ...string) []string {
	return append([]string{"run", "--cookie", "BASIC_PLUGIN=hello", "--cwd", dir}, words...)
}

// TestExamplePython calls the Python example in place, with its own generated code.
func TestExamplePython(t *testing.T) {
	t.Parallel()
	env := []string{"PYPLUG_PYTHON=" + runnertest.GRPCIO(t), "PYTHONDONTWRITEBYTECODE=1"}
	plugin := filepath.Join(runnertest.Example(t), "plugin-python", "plugin.py")
	runnertest.ExamplePort(t)
	dir := t.TempDir()
	pyplug(t, env, kv(dir, plugin, "KV/Put", "key=hello", "value=world")...).says(t, 0, `^\{\}\n$`)
	pyplug(t, env, kv(dir, "--raw", plugin, "KV/Get", "key=hello")...).says(t, 0, `^world\n\nWritten from plugin-python$`)
	pyplug(t, env, kv(dir, plugin, "Get", "key=nothing")...).says(t, 1, `(?m)^error: Get: UNKNOWN: .*No such file`)
	pyplug(t, env, kv(dir, plugin, "Get", "name=nothing")...).says(t, 4, `(?m)^error: Get: .*name`)

	// A second plugin prints the same valid handshake, because both use one port.
	first := pyplug(t, env, append([]string{"health", "--watch"}, kv(dir, plugin)[1:]...)...)
	out := reading(t, first.Cmd)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("got %q, %v", line, err)
	}
	pyplug(t, env, kv(dir, plugin, "Get", "key=hello")...).says(t, 6,
		`the address 127.0.0.1:1234 belongs to the plugin and to process \d+, expected the plugin alone\n`)
	if err := first.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	first.ends(t, 130)
}

// TestExampleGo calls the Go example, which is an executable.
func TestExampleGo(t *testing.T) {
	t.Parallel()
	plugin, dir := runnertest.GoExample(t), t.TempDir()
	proto := filepath.Join(runnertest.Example(t), "plugin-python", "proto", "kv_pb2.py")
	pyplug(t, nil, kv(dir, "--proto", proto, plugin, "KV/Put", "key=hello", "value=world")...).says(t, 0, `^\{\}\n$`)
	pyplug(t, nil, kv(dir, "--proto", proto, "--raw", plugin, "KV/Get", "key=hello")...).says(t, 0,
		`^world\n\nWritten from plugin-go-grpc$`)
	pyplug(t, nil, kv(dir, "--proto", proto, "--mtls", plugin, "Get", "key=hello")...).says(t, 0, `^\{"value":"`)
	pyplug(t, nil, kv(dir, "--proto", proto, plugin, "Get", "key=nothing")...).says(t, 1, `(?m)^error: Get: UNKNOWN: .*no such file`)
	pyplug(t, nil, "run", plugin, "Get").says(t, 5, `cookie|by hand|not meant to be executed`)
}

// TestExampleBidirectional calls the Go example that calls its host.
func TestExampleBidirectional(t *testing.T) {
	t.Parallel()
	plugin, dir := runnertest.GoExampleOf(t, "bidirectional/plugin-go-grpc"), t.TempDir()
	pyplug(t, nil, "hooks", "--cookie", "BASIC_PLUGIN=hello", plugin).says(t, 0, `^Counter/Get.*\nCounter/Put\(add_server: uint32, .*\n`)
	for _, flag := range []string{"--mtls=false", "--mtls"} {
		pyplug(t, nil, kv(dir, flag, plugin, "Put", "add_server=1", "key=a", "value=3")...).says(t, 1,
			`error: Put: UNIMPLEMENTED: no method proto.AddHelper/Sum of the host\n`)
	}
}

// TestExampleNegotiated calls the Go example that speaks net/rpc at version 2, and gRPC at version
// 3.
func TestExampleNegotiated(t *testing.T) {
	t.Parallel()
	plugin, dir := runnertest.GoExampleOf(t, "negotiated/plugin-go"), t.TempDir()
	pyplug(t, nil, kv(dir, plugin, "Get", "key=a")...).says(t, 6, `error: handshake: it is a net/rpc plugin: field 5 \(protocol\) is "netrpc", expected "grpc"`)
	pyplug(t, nil, kv(dir, "--protocol-versions", "2,3", plugin, "Put", "key=a", "value=b")...).says(t, 0, `^\{\}\n$`)
}
