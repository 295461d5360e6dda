package stock_test

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/check/stock"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// all lists the steps of a host without problems.
var all = []string{stock.StepStart, stock.StepConnect, stock.StepPing, stock.StepStop}

// holds checks that an outcome has exactly these steps. Only the step named failed may have an
// error, which must contain all words.
func holds(t *testing.T, o stock.Outcome, steps []string, failed string, words ...string) {
	t.Helper()
	var names []string
	for _, s := range o.Steps {
		names = append(names, s.Name)
		if s.Name != failed && s.Err != "" {
			t.Errorf("%s: %s", s.Name, s.Err)
		}
		if s.Took <= 0 {
			t.Errorf("%s took %v", s.Name, s.Took)
		}
	}
	if !slices.Equal(names, steps) {
		t.Errorf("steps %q, want %q", names, steps)
	}
	s, _ := o.Step(failed)
	for _, word := range words {
		if !strings.Contains(s.Err, word) {
			t.Errorf("%s: got %q, want %q in it", failed, s.Err, word)
		}
	}
}

func logged(o stock.Outcome, words string) bool {
	return slices.ContainsFunc(o.Log, func(line string) bool { return strings.Contains(line, words) })
}

// left reports whether exactly one process, with that name, was left. It returns true if the system
// cannot report it.
func left(o stock.Outcome, name string) bool {
	return runtime.GOOS == "windows" || len(o.Left) == 1 && strings.HasPrefix(strings.ToLower(o.Left[0]), name)
}

func TestPython(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		slow   bool // the stop takes 2 s in go-plugin
		failed string
		words  string
	}{
		"controller":  {args: []string{"--controller"}},
		"signal only": {slow: true},
		"no health": {args: []string{"--controller", "--health=none"}, failed: stock.StepPing,
			words: "rpc error: code = Unimplemented desc = Method not found!"},
		// go-plugin ignores the status in the answer.
		"not serving": {args: []string{"--controller", "--health=NOT_SERVING"}},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			o := run(t, zoo(t, test.args...))
			holds(t, o, all, test.failed, test.words)
			if o.Hung != "" || o.Crashed != "" || len(o.Left) > 0 || !strings.HasPrefix(o.Address, "tcp:127.0.0.1:") {
				t.Errorf("got %+v", o)
			}
			if s, _ := o.Step(stock.StepStop); (s.Took >= 2*time.Second) != test.slow {
				t.Errorf("the stop took %v", s.Took)
			}
			if o.Exit == nil || o.Exit.Killed != test.slow || o.Exit.ByItself || o.Exit.Code != 0 && !test.slow {
				t.Errorf("exit %+v", o.Exit)
			}
			if logged(o, "plugin failed to exit gracefully") != test.slow {
				t.Errorf("log %q", o.Log)
			}
		})
	}
}

func TestPythonHangs(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		hung string
		left string
	}{
		"health": {[]string{"--health=hang"}, stock.StepPing, "python"},
		// The child has the plugin's pipes. Kill waits until they are closed.
		"child": {[]string{"--child", "--controller"}, stock.StepStop, "sleep"},
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			r := zoo(t, test.args...)
			r.Spec.Limit = 2 * time.Second
			r.Spec.StartTimeout = time.Minute
			o := run(t, r)
			holds(t, o, all[:slices.Index(all, test.hung)], "")
			if o.Hung != test.hung || o.Crashed != "" {
				t.Errorf("hung %q, crashed %q", o.Hung, o.Crashed)
			}
			if !left(o, test.left) {
				t.Errorf("left %q, want one %q", o.Left, test.left)
			}
		})
	}
}

func TestPythonStarts(t *testing.T) {
	refused := []string{stock.StepStart, stock.StepStop}
	t.Run("noise", func(t *testing.T) {
		runnertest.NothingLeft(t)
		o := run(t, zoo(t, "--noise"))
		holds(t, o, refused, stock.StepStart, "Unrecognized remote plugin message: loading\nThis usually means\n",
			"failed to negotiate the initial go-plugin protocol handshake")
		if o.Address != "" {
			t.Errorf("address %q", o.Address)
		}
	})
	t.Run("cookie", func(t *testing.T) {
		runnertest.NothingLeft(t)
		r := zoo(t)
		r.Spec.CookieValue = "ape"
		o := run(t, r)
		holds(t, o, refused, stock.StepStart)
		if s, _ := o.Step(stock.StepStart); s.Err == "" || !logged(o, "this is a plugin and not meant to be started by hand") {
			t.Errorf("got %q, log %q", s.Err, o.Log)
		}
	})
	t.Run("version", func(t *testing.T) {
		runnertest.NothingLeft(t)
		r := zoo(t)
		r.Spec.Versions = []int{7}
		holds(t, run(t, r), refused, stock.StepStart,
			"incompatible API version with plugin. Plugin version: 1, Client versions: [7]")
	})
	t.Run("mutual TLS", func(t *testing.T) { // the zoo does not support it
		runnertest.NothingLeft(t)
		r := zoo(t, "--controller")
		r.Spec.MTLS = true
		holds(t, run(t, r), all, stock.StepPing, "authentication handshake failed: tls: ")
	})
}

func TestGo(t *testing.T) {
	runnertest.NothingLeft(t)
	program := runnertest.GoExample(t)
	for _, mtls := range []bool{false, true} {
		r := request(t)
		r.Spec.Command, r.Spec.CookieKey, r.Spec.CookieValue = []string{program}, "BASIC_PLUGIN", "hello"
		r.Spec.Versions, r.Spec.MTLS = []int{1, 2}, mtls
		o := run(t, r)
		holds(t, o, all, "")
		if o.Hung != "" || o.Crashed != "" || len(o.Left) > 0 || !strings.HasPrefix(o.Address, "unix:") {
			t.Errorf("got %+v", o)
		}
	}
}

// TestExits checks that a plugin's own exit is reported, whichever step detects it.
func TestExits(t *testing.T) {
	runnertest.NothingLeft(t)
	o := run(t, fake(t, "exits after the handshake"))
	if e := o.Exit; e == nil || !e.ByItself || e.Killed || e.Code != 3 || e.Uptime <= 0 {
		t.Errorf("exit %+v, want one with code 3 by itself", e)
	}
	r := zoo(t, "--controller")
	r.Spec.Watch = time.Millisecond
	o = run(t, r)
	holds(t, o, []string{stock.StepStart, stock.StepConnect, stock.StepPing, stock.StepWatch, stock.StepStop}, "")
	if e := o.Exit; e == nil || e.ByItself || e.Killed || e.Code != 0 {
		t.Errorf("exit %+v, want one by Shutdown", e)
	}
}

func TestFails(t *testing.T) {
	refused := []string{stock.StepStart, stock.StepStop}
	t.Run("silent", func(t *testing.T) {
		runnertest.NothingLeft(t)
		r := fake(t, "silent")
		r.Spec.StartTimeout = 300 * time.Millisecond
		holds(t, run(t, r), refused, stock.StepStart, "timeout while waiting for plugin to start")
	})
	t.Run("exit", func(t *testing.T) {
		runnertest.NothingLeft(t)
		o := run(t, fake(t, "exit"))
		holds(t, o, refused, stock.StepStart)
		if s, _ := o.Step(stock.StepStart); s.Err == "" || !logged(o, `error="exit status 3"`) {
			t.Errorf("got %q, log %q", s.Err, o.Log)
		}
		plain := slices.DeleteFunc(o.Log, func(line string) bool { return strings.Contains(line, " plugin: ") })
		if !slices.Equal(plain, []string{"no license", "[ERROR] none at all"}) {
			t.Errorf("standard error %q", plain)
		}
	})
	t.Run("long line", func(t *testing.T) {
		runnertest.NothingLeft(t)
		o := run(t, fake(t, "long line"))
		holds(t, o, refused, stock.StepStart, "Unrecognized remote plugin message: x\x01")
		if s, _ := o.Step(stock.StepStart); len(s.Err) > 2500 {
			t.Errorf("%d bytes", len(s.Err))
		}
	})
	t.Run("floods", func(t *testing.T) {
		runnertest.NothingLeft(t)
		o := run(t, fake(t, "floods standard error"))
		if len(o.Log) != 40 || !logged(o, "line 4999 ") {
			t.Errorf("log of %d lines: %q", len(o.Log), o.Log)
		}
		for _, line := range o.Log {
			if len(line) > 1024 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
	})
	t.Run("no program", func(t *testing.T) {
		runnertest.NothingLeft(t)
		r := request(t)
		r.Spec.Command = []string{filepath.Join(t.TempDir(), "none")}
		holds(t, run(t, r), refused, stock.StepStart, "none")
	})
}

// TestStranger checks that the host sends nothing to a server of another process.
func TestStranger(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only linux reports whose a port is")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	received := make(chan string, 1)
	go func() { // ends with the listener and the connections
		all := ""
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			content, _ := io.ReadAll(conn) // until the connection is closed
			all += string(content)
			conn.Close()
		}
		received <- all
	}()
	r := fake(t, "stranger")
	r.Env = append(r.Env, stranger+"="+l.Addr().String())
	o := run(t, r)
	if ping, _ := o.Step(stock.StepPing); !strings.Contains(ping.Err, "belongs to process") {
		t.Errorf("the ping: %q", ping.Err)
	}
	l.Close()
	if all := <-received; all != "" {
		t.Errorf("the stranger received %q", all)
	}
}

func TestCrashes(t *testing.T) {
	for name, words := range map[string]string{
		"certificate":    "start: panic: runtime error: invalid memory address or nil pointer dereference",
		"kills its host": "start: ", // the rest depends on the system
	} {
		t.Run(name, func(t *testing.T) {
			runnertest.NothingLeft(t)
			o := run(t, fake(t, name))
			if !strings.HasPrefix(o.Crashed, words) || strings.Contains(o.Crashed, "goroutine ") ||
				o.Hung != "" || len(o.Steps) > 0 {
				t.Errorf("got %+v", o)
			}
		})
	}
}

// TestSurroundings checks that the plugin gets the requested environment and directory and the
// variables that hosts add, but none of pyplug's own.
func TestSurroundings(t *testing.T) {
	runnertest.NothingLeft(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := fake(t, "prints its environment")
	r.Env = slices.DeleteFunc(r.Env, func(entry string) bool {
		return !strings.HasPrefix(entry, "STOCK_TEST_") && !strings.HasPrefix(entry, "GORACE=") &&
			!strings.HasPrefix(entry, "SYSTEMROOT=")
	})
	r.Spec.Dir = dir
	o := run(t, r)
	if !slices.Contains(o.Log, "directory "+dir) || !slices.Contains(o.Log, `input "" <nil>`) {
		t.Errorf("log %q", o.Log)
	}
	want := []string{"ZOO_COOKIE", "PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PYPLUG_RUN"}
	for _, entry := range r.Env {
		name, _, _ := strings.Cut(entry, "=")
		want = append(want, name)
	}
	var got []string
	for _, line := range o.Log {
		if name, ok := strings.CutPrefix(line, "variable "); ok {
			got = append(got, name)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("variables %q, want %q", got, want)
	}
}

func TestRunErrors(t *testing.T) {
	runnertest.NothingLeft(t)
	r := fake(t, "silent")

	none := r
	none.Host = []string{filepath.Join(t.TempDir(), "none")}
	if _, err := stock.Run(t.Context(), none); err == nil || !strings.HasPrefix(err.Error(), "cannot start ") {
		t.Errorf("got %v", err)
	}
	if _, err := stock.Run(t.Context(), stock.Request{Host: r.Host}); err == nil {
		t.Error("no plugin is no error")
	}
	other := fake(t, "exit")
	other.Host = []string{self(t)}
	if _, err := stock.Run(t.Context(), other); err == nil || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("got %v", err)
	}
	other.Host, other.Spec.Command = []string{self(t), hostWord, "one word more"}, []string{"x"}
	if _, err := stock.Run(t.Context(), other); err == nil || !strings.Contains(err.Error(), "one argument of JSON") {
		t.Errorf("got %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if _, err := stock.Run(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := stock.Run(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := runnertest.WithEnv(tag); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
