//go:build linux || darwin

package proc

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"
)

// behavior is the environment variable that makes this test binary one of the misbehaving children.
const behavior = "PROC_TEST_BEHAVIOR"

// quickExit prevents the race detector from sleeping for a second at each exit.
const quickExit = "GORACE=atexit_sleep_ms=0"

var used sync.Map

func TestMain(m *testing.M) {
	if name := os.Getenv(behavior); name != "" {
		do, ok := behaviors[name]
		if !ok {
			fmt.Fprintln(os.Stderr, "no behavior", name)
			os.Exit(99)
		}
		do(os.Args[1:])
		os.Exit(0)
	}
	flag.Parse()
	code := m.Run()
	all := true // whether all tests are run
	for _, some := range []string{"test.run", "test.skip", "test.list"} {
		all = all && flag.Lookup(some).Value.String() == ""
	}
	for name := range behaviors {
		if _, ok := used.Load(name); !ok && all && !testing.Short() && code == 0 {
			fmt.Println("behavior", name, "is never used")
			code = 1
		}
	}
	os.Exit(code)
}

// child returns the Spec of one of the behaviors.
func child(t testing.TB, name string, args ...string) Spec {
	t.Helper()
	if _, ok := behaviors[name]; !ok {
		t.Fatalf("no behavior %q", name)
	}
	used.Store(name, true)
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Path: path, Args: args, Env: Environ(os.Environ(), false, []string{behavior + "=" + name, quickExit})}
}

// shell returns the Spec of a script.
func shell(script string) Spec {
	return Spec{Path: "/bin/sh", Args: []string{"-c", script}}
}

// talking returns the Spec of a shell with Talk. Its standard input and output are the pipes.
func talking(script string) Spec {
	at := DescriptorsOf()
	s := shell(fmt.Sprintf("exec </dev/fd/%d >/dev/fd/%d\n%s", at.In, at.Out, script))
	s.Talk = true
	return s
}

// start starts s, kills it at the end of the test, and checks that nothing is
// left.
func start(t testing.TB, s Spec) *Process {
	t.Helper()
	p, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.forceStop(false)
		p.Kill()
	})
	return p
}

// lines collects the output of a process.
type lines struct {
	mu  sync.Mutex
	all []Line
	got chan struct{}
}

func newLines() *lines { return &lines{got: make(chan struct{}, 1)} }

func (l *lines) add(line Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
	select {
	case l.got <- struct{}{}:
	default:
	}
}

func (l *lines) list() []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Line(nil), l.all...)
}

// patience is how long a test waits for something that must end by itself.
const patience = time.Minute

// find waits for a line that begins with prefix and returns the rest of it.
func (l *lines) find(t testing.TB, prefix string) string {
	t.Helper()
	limit := time.After(patience)
	for {
		for _, line := range l.list() {
			if rest, ok := strings.CutPrefix(line.Text, prefix); ok {
				return strings.TrimSpace(rest)
			}
		}
		select {
		case <-l.got:
		case <-limit:
			t.Fatalf("no line %q, but %+v", prefix, l.list())
		}
	}
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !soon(ok) {
		t.Fatalf("not within %s: %s", patience, what)
	}
}

// soon waits for a condition, and reports whether it became true.
func soon(ok func() bool) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			return false
		}
	}
	return true
}

// clean makes the test fail if it leaves a process, a descriptor or a goroutine behind. A test must
// call it first.
func clean(t testing.TB) {
	t.Helper()
	Close()
	os.ReadFile(os.DevNull) // lets the runtime open its poller
	reapOrphans()()         // starts the goroutine of os/signal, which never ends
	files, routines := descriptors(), runtime.NumGoroutine()
	t.Cleanup(func() {
		Close()
		if t.Failed() {
			return
		}
		if left := leftovers(); len(left) > 0 {
			t.Errorf("processes left: %v", left)
		}
		if !soon(func() bool { return descriptors() <= files && runtime.NumGoroutine() <= routines }) {
			var b bytes.Buffer
			pprof.Lookup("goroutine").WriteTo(&b, 1)
			t.Errorf("%d descriptors, %d before; %d goroutines, %d before:\n%s", descriptors(), files, runtime.NumGoroutine(), routines, b.String())
		}
	})
}

// python returns an interpreter or skips the test.
func python(t testing.TB) string {
	t.Helper()
	for _, path := range []string{"/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	path, err := exec.LookPath("python3")
	if err != nil {
		if strings.Contains(os.Getenv("PYPLUG_TEST_REQUIRE"), "python") {
			t.Fatal("no python3, but PYPLUG_TEST_REQUIRE names it")
		}
		t.Skip("no python3")
	}
	return path
}
