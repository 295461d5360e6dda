//go:build linux

package commands_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFastcallOrder checks that packages that take long to initialize come after fastcall, which
// makes its call in init, and hangup, which catches a signal there.
func TestFastcallOrder(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	d.env = append(d.env, "GODEBUG=inittrace=1")
	_, trace, _ := d.pyplug("version")
	for _, early := range []string{"fastcall", "hangup"} {
		before, after, ok := strings.Cut(trace, "init github.com/pyplug/pyplug/commands/"+early+" ")
		if !ok {
			t.Fatalf("%s has no init:\n%s", early, trace)
		}
		for _, heavy := range []string{"google.golang.org/protobuf/reflect/protoregistry", "google.golang.org/grpc", "net/http", "crypto/tls"} {
			if strings.Contains(before, "init "+heavy+" ") {
				t.Errorf("%s initialises before %s", heavy, early)
			}
		}
		if !strings.Contains(after, "init google.golang.org/") {
			t.Errorf("nothing heavy initialises after %s:\n%s", early, trace)
		}
	}
}

// TestFastcallSame checks that a plain call prints the same as a call with a flag, which fastcall
// does not make.
func TestFastcallSame(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	d.stopped("greeter")
	d.wants("greeter", "start", greeter)
	for _, words := range [][]string{
		{"greet", "Ada"}, {"greet", "=a=b"}, {"greet", "\"quoted\" \\ \t\n <é😀>"}, {"greet", "name=Ada", "greeting=Hi"}, {"add", "a=2", "b:=40"},
		{"greet", ""}, {"countdown", "2"}, {"nosuch"}, {"greet"}, {"divide", "1", "0"}, {"a/b c"}, {"health"}, {"greet", ":={"},
	} {
		out, errs, code := d.pyplug(append([]string{"call", "greeter"}, words...)...)
		out2, errs2, code2 := d.pyplug(append([]string{"call", "--log-format", "text", "greeter"}, words...)...)
		if out != out2 || errs != errs2 || code != code2 {
			t.Errorf("%q: got %q, %q, %d, and with a flag %q, %q, %d", words, out, errs, code, out2, errs2, code2)
		}
	}
}

// TestTypedNames checks that a typed name with _ reaches the plugin whose name has -, with fastcall
// and with the ordinary code. The exact name has precedence.
func TestTypedNames(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	d.stopped("my-tool", "my_tool")
	tool := filepath.Join(written(t, map[string]string{"my_tool.py": "def which():\n    return 'dashed'\n"}), "my_tool.py")
	d.wants("my-tool", "start", tool)
	d.wants(`"dashed"`, "call", "my_tool", "which")
	d.wants(`"dashed"`, "call", "--log-format", "text", "my_tool", "which")
	d.wants("which()", "hooks", "my_tool")
	other := filepath.Join(written(t, map[string]string{"other.py": "def which():\n    return 'underscored'\n"}), "other.py")
	d.wants("my_tool", "start", "--name", "my_tool", other)
	d.wants(`"underscored"`, "call", "my_tool", "which")
	d.wants(`"dashed"`, "call", "my-tool", "which")
	d.wants("", "stop", "my-tool")
	d.wants(`"underscored"`, "call", "my-tool", "which")
	d.wants("", "stop", "my-tool")
	d.stopped("other-tool") // it must not run at the end of the test
	third := filepath.Join(written(t, map[string]string{"other_tool.py": "print('imported')\n"}), "other_tool.py")
	d.wants("other-tool", "start", third)
	d.wants("", "stop", "other_tool")
	if out, errs, _ := d.pyplug("logs", "other_tool"); !strings.Contains(out, "imported") {
		t.Errorf("the log is %q, %s", out, errs)
	}
}

// TestFastcallOnce checks that a call that takes longer than fastcall waits is made only once.
func TestFastcallOnce(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	d.stopped("greeter")
	d.wants("greeter", "start", greeter)
	d.wants(`{"url":"http://x","status":200}`, "call", "greeter", "fetch", "http://x", "0.4")
	if out, _, _ := d.pyplug("status", "--json", "greeter"); !strings.Contains(out, `"calls":1,"failed":0`) {
		t.Errorf("its status is %s", out)
	}
}

// TestFastcallStopping checks that a call fails with the daemon's error if the daemon rejects it
// because it is being stopped.
func TestFastcallStopping(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	if err := os.MkdirAll(d.run, 0o700); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(d.run, "going.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	go func() { // ends after the only call
		conn, err := socket.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
			t.Error(err)
		}
		_ = socket.Close()
		const body = `{"schema":1,"error":{"kind":"unavailable","reason":"stopping","message":"going is stopping","sent":false}}`
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 503 Service Unavailable\r\nPyplug-Api: 1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}()
	d.fails(9, "going is stopping", "call", "going", "greet")
}
