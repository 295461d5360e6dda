package grpcplugin_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/reflection"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/proc"
)

// behavior is the environment variable that makes this test binary one of the plugins below.
// argument is the variable with an argument for some of them.
const (
	behavior = "GRPCPLUGIN_TEST_BEHAVIOR"
	argument = "GRPCPLUGIN_TEST_ARGUMENT"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(behavior); name != "" {
		do, ok := behaviors[name]
		if !ok {
			fmt.Fprintln(os.Stderr, "no behavior", name)
			os.Exit(99)
		}
		do(os.Getenv(argument))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake returns the configuration of one of the behaviors.
func fake(t testing.TB, name, arg string) grpcplugin.Config {
	t.Helper()
	if _, ok := behaviors[name]; !ok {
		t.Fatalf("no behavior %q", name)
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return grpcplugin.Config{
		Path: path,
		// The race detector would sleep for a second at each exit.
		Env: proc.Environ(os.Environ(), false,
			[]string{behavior + "=" + name, argument + "=" + arg, "GORACE=atexit_sleep_ms=0"}),
		CookieKey: "ZOO_COOKIE", CookieValue: "monkey",
		Output: func(stream, text string, cut int) { t.Logf("%s: %.200s", stream, text) },
	}
}

// hang waits until the test ends the process.
func hang() { time.Sleep(time.Hour) }

// listen listens on a port of this machine.
func listen() net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
	return l
}

var behaviors = map[string]func(arg string){
	"print":  func(arg string) { fmt.Print(arg); hang() },
	"exit":   func(arg string) { fmt.Fprintln(os.Stderr, "no licence"); os.Exit(len(arg)) },
	"stderr": func(arg string) { fmt.Fprint(os.Stderr, arg); os.Exit(1) },
	"die": func(arg string) {
		fmt.Println("1|1|tcp|127.0.0.1:1|grpc")
		os.Exit(len(arg))
	},
	"flood": func(string) {
		for block := strings.Repeat("x", 64<<10); ; {
			if _, err := fmt.Print(block); err != nil {
				return
			}
		}
	},
	"refused": func(string) {
		l := listen()
		l.Close()
		fmt.Printf("1|1|tcp|%s|grpc\n", l.Addr())
		hang()
	},
	"silent": func(string) {
		fmt.Printf("1|1|tcp|%s|grpc\n", listen().Addr())
		hang()
	},
	"ssh": func(string) {
		l := listen()
		fmt.Printf("1|1|tcp|%s|grpc\n", l.Addr())
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(conn, "SSH-2.0-OpenSSH_9.2\r\n")
		}
	},
	"plain under tls": func(arg string) {
		l := listen()
		fmt.Printf("1|1|tcp|%s|grpc|%s\n", l.Addr(), arg)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
			conn.Close()
		}
	},
	// Prints arg before the handshake.
	"serve": func(arg string) {
		fmt.Print(arg)
		serve()
	},
	"carriage return": func(string) { serveOn(listen(), printLine("\r\n")) },
	// Prints a line of 300 KB, then arg MB without a line end.
	"prints after": func(arg string) {
		megabytes, _ := strconv.Atoi(arg)
		serveOn(listen(), func(l net.Listener) {
			fmt.Printf("1|1|tcp|%s|grpc\n%s\n", l.Addr(), strings.Repeat("y", 300<<10))
			for block := strings.Repeat("z", 1<<20); megabytes > 0; megabytes-- {
				fmt.Print(block)
			}
			fmt.Fprint(os.Stderr, "all printed\n")
		})
	},
	"no socket": func(string) {
		path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "file")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(98)
		}
		fmt.Printf("1|1|unix|%s|grpc\n", path)
		hang()
	},
	// Creates its socket after the handshake. The delay is part of the plugin's behavior. No test
	// depends on its length.
	"early": func(string) {
		path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "early")
		fmt.Printf("1|1|unix|%s|grpc\n", path)
		<-time.After(100 * time.Millisecond)
		l, err := net.Listen("unix", path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(98)
		}
		serveOn(l, func(net.Listener) {})
	},
	"early deadline":     serveEarlyDeadline,
	"own ca":             serveOwnCA,
	"slow":               serveSlowly,
	"graceful":           func(string) { serveGracefully() },
	"padded":             func(string) { servePadded() },
	"reflection v1 only": func(string) { serveOn(listen(), printLine("\n"), reflection.RegisterV1) },
}
