package grpcplugin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/grpcplugin"
	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// check ends a plugin if there is an error.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
}

func init() {
	behaviors["shares a port"] = func(address string) {
		l, err := shared(address)
		check(err)
		serveOn(l, printLine("\n"))
	}
	behaviors["listens at"] = func(address string) {
		l, err := net.Listen("tcp", address)
		check(err)
		host := "127.0.0.1"
		if strings.HasPrefix(address, "[::1]") {
			host = "[::1]"
		}
		serveOn(l, func(net.Listener) { fmt.Printf("1|1|tcp|%s:%d|grpc\n", host, l.Addr().(*net.TCPAddr).Port) })
	}
	// Prints a link to a stranger's socket, in the directory for the plugin's own sockets.
	link := func(make func(old, new string) error) func(string) {
		return func(stranger string) {
			path := filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "link")
			check(make(stranger, path))
			fmt.Printf("1|1|unix|%s|grpc\n", path)
			hang()
		}
	}
	behaviors["symbolic link"], behaviors["hard link"] = link(os.Symlink), link(os.Link)
	// Starts a child in its own session, with another behavior.
	behaviors["child"] = func(does string) {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), behavior+"="+does, argument+"=")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		check(child.Run())
	}
	// Exits right after the handshake.
	behaviors["dies"] = func(how string) {
		network, at := "tcp", "127.0.0.1:0"
		if strings.HasPrefix(how, "unix") {
			network, at = "unix", filepath.Join(os.Getenv("PLUGIN_UNIX_SOCKET_DIR"), "s")
		}
		l, err := net.Listen(network, at)
		check(err)
		fmt.Printf("1|1|%s|%s|grpc\n", network, l.Addr())
		if strings.HasSuffix(how, "accepted") {
			_, err = l.Accept()
			check(err)
		}
		if strings.HasSuffix(how, "closed") {
			l.Close()
		}
		check(syscall.Kill(os.Getpid(), syscall.SIGKILL))
	}
}

// shared listens on a port on which other processes may listen, too, as Python's gRPC server does
// by default.
func shared(address string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		}), err)
	}}
	return config.Listen(context.Background(), "tcp4", address)
}

// TestSharedPort checks that a port that the plugin shares with another process is rejected.
func TestSharedPort(t *testing.T) {
	runnertest.NothingLeft(t)
	l, err := shared("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e := fails(t, fake(t, "shares a port", l.Addr().String()), hook.Handshake,
		fmt.Sprintf("belongs to the plugin and to process %d, expected the plugin alone", os.Getpid()))
	if e.Reason != grpcplugin.ReasonForeignAddress {
		t.Errorf("reason %q", e.Reason)
	}
}

// TestNearerPort checks a connection to a plugin at 127.0.0.1 while another process listens on the
// same port of all addresses.
func TestNearerPort(t *testing.T) {
	runnertest.NothingLeft(t)
	l, err := shared("0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := fmt.Sprintf("127.0.0.1:%d", l.Addr().(*net.TCPAddr).Port)
	if err := started(t, fake(t, "shares a port", address)).Probe(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFamilies checks that the plugin's socket is found whatever addresses it listens at.
func TestFamilies(t *testing.T) {
	for _, at := range []string{"0.0.0.0:0", "[::]:0", "[::1]:0"} {
		t.Run(at, func(t *testing.T) {
			runnertest.NothingLeft(t)
			if l, err := net.Listen("tcp", at); err != nil {
				t.Skip(err) // a machine without IPv6
			} else {
				l.Close()
			}
			if err := started(t, fake(t, "listens at", at)).Probe(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStranger checks that nothing is sent to a server of another process, however the plugin names
// it.
func TestStranger(t *testing.T) {
	for does, network := range map[string]string{"symbolic link": "unix", "hard link": "unix", "print": "tcp"} {
		t.Run(does, func(t *testing.T) {
			runnertest.NothingLeft(t)
			at := "127.0.0.1:0"
			if network == "unix" {
				at = filepath.Join(t.TempDir(), "s")
			}
			l, err := net.Listen(network, at)
			if err != nil {
				t.Fatal(err)
			}
			received := make(chan []byte, 1)
			go func() { // ends with the listener, or the connection
				defer close(received)
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				content, _ := io.ReadAll(conn) // until the connection is closed
				received <- content
			}()
			arg := l.Addr().String()
			if network == "tcp" {
				arg = "1|1|tcp|" + arg + "|grpc\n"
			}
			e := fails(t, fake(t, does, arg), hook.Handshake, fmt.Sprintf("belongs to process %d, expected the plugin", os.Getpid()))
			if e.Reason != grpcplugin.ReasonForeignAddress {
				t.Errorf("reason %q", e.Reason)
			}
			l.Close()
			if content := <-received; len(content) > 0 {
				t.Errorf("the stranger received %q", content)
			}
		})
	}
}

// TestChildServes checks a connection to a server that the plugin has started.
func TestChildServes(t *testing.T) {
	for network, does := range map[string]string{"unix": "serve", "tcp": "reflection v1 only"} {
		t.Run(network, func(t *testing.T) {
			runnertest.NothingLeft(t)
			inst := started(t, fake(t, "child", does))
			if _, err := inst.Call(t.Context(), words(t, "Echo", "text=x")); err != nil {
				t.Error(err)
			}
			if inst.Evidence().Line.Network != network {
				t.Errorf("handshake %+v", inst.Evidence().Line)
			}
		})
	}
}

// TestDiesAfterHandshake checks that the exit of the process is reported, not the failure of the
// connection.
func TestDiesAfterHandshake(t *testing.T) {
	for _, how := range []string{"tcp", "tcp accepted", "tcp closed", "unix", "unix accepted", "unix closed"} {
		t.Run(how, func(t *testing.T) {
			runnertest.NothingLeft(t)
			for range 3 {
				e := fails(t, fake(t, "dies", how), hook.Start, "exited before it was ready")
				if e.Exit == nil || e.Exit.Signal != "SIGKILL" || e.Exit.Stopped {
					t.Fatalf("exit %+v", e.Exit)
				}
			}
		})
	}
}
