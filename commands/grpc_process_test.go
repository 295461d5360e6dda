//go:build linux

package commands_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// states are plugins that create $MARKER when they make pyplug wait: scripts of the fake Python,
// and hooks of the zoo, which runs in a real one.
var states = map[string]struct {
	script string
	flags  []string
	hook   string
	says   string // the output after an interrupt
}{
	"before the handshake": {"mark()\nhang()", nil, "Echo", "error: canceled: interrupted"},
	"in the connection":    {"listen(\"mute\")\nprint(\"1|1|tcp|$ADDRESS|grpc\")\nhang()", nil, "Echo", "error: canceled: interrupted"},
	"in the TLS handshake": {"certificate()\nlisten(\"mute\")\nprint(\"1|1|tcp|$ADDRESS|grpc|$CERTIFICATE\")\nhang()",
		[]string{"--mtls"}, "Echo", "error: canceled: interrupted"},
	"in the health check": {"serve(\"hang\")\nprint(\"1|1|tcp|$ADDRESS|grpc\")\nhang()", nil, "Echo", "error: canceled: interrupted"},
	"in a call":           {"serve(\"SERVING\")\nprint(\"1|1|tcp|$ADDRESS|grpc\")\nhang()", nil, "Hang", "error: Hang: interrupted"},
	"in a stream":         {"serve(\"SERVING\")\nprint(\"1|1|tcp|$ADDRESS|grpc\")\nhang()", nil, "Forever", "error: Forever: interrupted"},
	"with a child":        {"child()\nserve(\"SERVING\")\nprint(\"1|1|tcp|$ADDRESS|grpc\")\nhang()", nil, "Hang", "error: Hang: interrupted"},
	"on a Unix socket":    {"at(\"$PLUGIN_UNIX_SOCKET_DIR/s\")\nserve(\"SERVING\")\nprint(\"1|1|unix|$ADDRESS|grpc\")\nhang()", nil, "Hang", "error: Hang: interrupted"},
	"in Python":           {"", nil, "Hang", "error: Hang: interrupted"},
	"in Python's C code":  {"", []string{"--stop-timeout", "0.5"}, "Stubborn", "error: Stubborn: interrupted"},
	"in Python's stream":  {"", nil, "Count", "error: Count: interrupted"},
}

// methods describes the methods of the fake's server.
const methods = `syntax = "proto3";
message Text { string text = 1; }
service Fake {
  rpc Echo(Text) returns (Text);
  rpc Hang(Text) returns (Text);
  rpc Forever(Text) returns (stream Text);
}`

// held starts a pyplug and waits until it is in the state.
func held(t *testing.T, state string) (s *session, temp string) {
	t.Helper()
	c, dir := states[state], t.TempDir()
	temp = filepath.Join(dir, "temp")
	plugin, env := filepath.Join(dir, "plugin", "plugin.py"), []string{"MARKER=MARKER", "TMPDIR=" + temp, "GORACE=atexit_sleep_ms=0"}
	words := append([]string{"run", "--transport", "grpc"}, c.flags...)
	if c.script == "" {
		plugin = "testdata/plugins/grpc/zoo.py"
		env = append(env, "PYPLUG_PYTHON="+runnertest.GRPCIO(t), "ZOO_COOKIE=monkey")
		words = append(words, plugin, c.hook)
	} else {
		set := filepath.Join(dir, "fake.pb")
		if err := os.MkdirAll(filepath.Dir(plugin), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(plugin, []byte(c.script), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := makeProtoset(set, methods); err != nil {
			t.Fatal(err)
		}
		if err := makeFake(filepath.Dir(plugin)); err != nil {
			t.Fatal(err)
		}
		env = append(env, "PYPLUG_PYTHON=") // the plugin then chooses its own Python, the fake
		words = append(words, "--protoset", set, plugin, c.hook)
	}
	if c.hook == "Count" {
		words = append(words, "n=1000000000000")
	}
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	s = pyplug(t, env, words...)
	s.start(t)
	if n := len(runnertest.WithEnv(s.tag)); n < 2 {
		t.Fatalf("%d processes carry the tag, want pyplug and its plugin", n)
	}
	return s, temp
}

// TestGRPCInterrupted checks that an interrupt ends a plugin in every state.
func TestGRPCInterrupted(t *testing.T) {
	t.Parallel()
	for state, c := range states {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			s, temp := held(t, state)
			if err := s.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			s.ends(t, 130)
			if !strings.Contains(s.errs.String(), c.says) {
				t.Errorf("standard error is %q, want %q in it", &s.errs, c.says)
			}
			if left := entries(temp); len(left) > 0 {
				t.Errorf("left in the temporary directory: %q", left)
			}
		})
	}
}

// TestGRPCKilled checks that no process outlives a killed pyplug.
func TestGRPCKilled(t *testing.T) {
	t.Parallel()
	for state := range states {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			s, temp := held(t, state)
			if err := s.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			took := runnertest.Until(t, "all processes are gone", func() bool { return len(runnertest.WithEnv(s.tag)) == 0 })
			t.Logf("gone after %v", took)
			_ = s.Wait() // it was killed
			runnertest.Until(t, "its files are gone", func() bool { return len(entries(temp)) == 0 })
		})
	}
}

func entries(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, "*")) // the pattern is valid
	return found
}

// TestWatch checks that a watch prints a line for each change. A signal is not a failure, but the
// end of the plugin is.
func TestWatch(t *testing.T) {
	t.Parallel()
	zoo := []string{"PYPLUG_PYTHON=" + runnertest.GRPCIO(t), "ZOO_COOKIE=monkey"}
	for name, c := range map[string]struct {
		env    []string
		plugin string
		want   string
		code   int
	}{
		"gRPC":             {zoo, "grpc/zoo.py", "healthy\n", 130},
		"gRPC, not well":   {append([]string{"ZOO=--health=NOT_SERVING"}, zoo...), "grpc/zoo.py", "unhealthy  the health of the service \"plugin\" is NOT_SERVING, expected SERVING\n", 130},
		"gRPC, no service": {append([]string{"ZOO=--health=none"}, zoo...), "grpc/zoo.py", "unhealthy  grpc.health.v1.Health is not served\n", 130},
		"a functions file": {nil, "greeter.py", "healthy\n", 130},
		"an unhealthy one": {nil, "unhealthy.py", "unhealthy  ", 130},
		"one that ends":    {[]string{"EXIT_SOON=MARKER"}, "exit_soon.py", "healthy\n", 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := pyplug(t, c.env, "health", "--watch", "testdata/plugins/"+c.plugin)
			out := reading(t, s.Cmd)
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || !strings.HasPrefix(line, c.want) {
				t.Errorf("got %q, %v; want %q", line, err, c.want)
			}
			if c.code == 130 {
				err = s.Process.Signal(syscall.SIGINT)
			} else {
				err = os.WriteFile(s.marker, nil, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			runnertest.Until(t, "it ends", s.ended)
			s.ends(t, c.code)
			if told := strings.Contains(s.errs.String(), "error"); told != (c.code == 8) {
				t.Errorf("standard error is %q", &s.errs)
			}
		})
	}
}

// TestInterruptBootstrap checks that an interrupt during a bootstrap call still lets the plugin end
// normally.
func TestInterruptBootstrap(t *testing.T) {
	t.Parallel()
	s := pyplug(t, []string{"ATEXIT_MARKER=MARKER.bye"}, "run", "PLUGIN", "pid")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pyplug.toml": "entry = \"slow.py\"\n[[bootstrap]]\nhook = \"wait\"\n",
		"slow.py": "import atexit, os, time\natexit.register(lambda: open(os.environ['ATEXIT_MARKER'], 'w').close())\n" +
			"def wait():\n    open(os.environ['ATEXIT_MARKER'][:-4], 'w').close()\n    time.sleep(3600)\ndef pid():\n    return 0\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Args[2] = dir
	s.start(t)
	if err := s.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.ends(t, 130)
	if !runnertest.Exists(s.marker + ".bye")() {
		t.Error("the plugin was killed, want it to end")
	}
}
