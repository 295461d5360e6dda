package proc

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

// runPyplug runs a program that uses this package and starts the behaviors that args name. bury
// waits for the program after it was killed, and reaps the orphans that it leaves to this process,
// its subreaper.
func runPyplug(t *testing.T, args ...string) (pyplug *os.Process, l *lines, bury func()) {
	t.Helper()
	used.Store("pyplug", true)
	for _, words := range args {
		used.Store(strings.Fields(words)[0], true)
	}
	t.Setenv("TMPDIR", t.TempDir())
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := again("pyplug", args...)
	c.Stdout, c.Stderr = w, w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	pipe, err := newOutputPipe(r)
	if err != nil {
		t.Fatal(err)
	}
	l = newLines()
	done := make(chan struct{})
	go func() {
		defer close(done)
		o := output{onLine: l.add}
		o.drain(Stdout, pipe)
	}()
	l.find(t, "started")
	return c.Process, l, func() {
		c.Wait()
		<-done
		for _, pid := range children() {
			if alive(pid) {
				t.Errorf("process %d outlived pyplug", pid)
				syscall.Kill(pid, syscall.SIGKILL)
			}
			syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

// dead waits until processes are dead and returns how long it took.
func dead(t *testing.T, pids []string) time.Duration {
	t.Helper()
	began := time.Now()
	eventually(t, "all are dead", func() bool {
		for _, pid := range pids {
			if n, _ := strconv.Atoi(pid); alive(n) {
				return false
			}
		}
		return true
	})
	took := time.Since(began)
	t.Logf("%d processes dead after %v", len(pids), took)
	return took
}

// withinTwoSeconds checks that at least one of several attempts takes less than two seconds,
// because a machine may be too busy.
func withinTwoSeconds(t *testing.T, attempt func(t *testing.T) time.Duration) {
	t.Helper()
	for range 5 {
		if attempt(t) < 2*time.Second {
			return
		}
	}
	t.Error("it takes more than two seconds each time")
}

// TestGuard checks that no process of any kind outlives a killed pyplug.
func TestGuard(t *testing.T) {
	clean(t)
	withinTwoSeconds(t, func(t *testing.T) time.Duration {
		pyplug, l, bury := runPyplug(t, "sleep", "spin", "stubborn", "closer", "escape stay")
		l.find(t, "closed")
		l.find(t, "spinning")
		eventually(t, "a grandchild", func() bool { return len(rests(l, "grandchild ")) == 1 })
		dir := l.find(t, "temp ")
		all := append(rests(l, "process "), rests(l, "grandchild ")...)
		all = append(all, l.find(t, "guard "))
		pyplug.Kill()
		took := dead(t, all)
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is still there", dir)
		}
		bury()
		for _, pid := range all {
			gone(t, pid)
		}
		return took
	})
}

// TestGuardChain checks that processes that leave the session, fork and exit without a pause do not
// outlive pyplug.
func TestGuardChain(t *testing.T) {
	for _, kind := range []string{"", " each"} {
		for range 3 {
			t.Run("setsid"+kind, func(t *testing.T) {
				clean(t)
				path, over := chainLock(t)
				pyplug, l, bury := runPyplug(t, "chain "+path+kind)
				l.find(t, "chained")
				pyplug.Kill()
				eventually(t, "the chain is over", over)
				dead(t, []string{l.find(t, "guard ")})
				bury()
			})
		}
	}
}

// TestLifeline checks that the kernel ends the groups without a guard.
func TestLifeline(t *testing.T) {
	clean(t)
	withinTwoSeconds(t, func(t *testing.T) time.Duration {
		pyplug, l, bury := runPyplug(t, "sleep", "spin", "stubborn", "closer")
		l.find(t, "closed")
		l.find(t, "spinning")
		guard, _ := strconv.Atoi(l.find(t, "guard "))
		syscall.Kill(guard, syscall.SIGKILL)
		eventually(t, "the guard is dead", func() bool { return !alive(guard) })
		pyplug.Kill()
		took := dead(t, rests(l, "process "))
		bury()
		return took
	})
}

func rests(l *lines, prefix string) (rests []string) {
	for _, line := range l.list() {
		if rest, ok := strings.CutPrefix(line.Text, prefix); ok {
			rests = append(rests, rest)
		}
	}
	return rests
}

// awaitChild waits until a child of this process can be reaped. A process with several threads may
// look dead some time earlier.
func awaitChild(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ") && !strings.Contains(string(stat), ") X ")
}

// TestNested checks that a pyplug inside a plugin of another one ends with that plugin.
func TestNested(t *testing.T) {
	clean(t)
	t.Setenv("TMPDIR", t.TempDir())
	l := newLines()
	s := child(t, "pyplug", "sleep", "escape stay")
	s.OnLine = l.add
	p := start(t, s)
	l.find(t, "started")
	inner := append(rests(l, "process "), l.find(t, "grandchild "), l.find(t, "guard "))
	p.Kill()
	for _, pid := range inner[:len(inner)-1] {
		n, _ := strconv.Atoi(pid)
		if alive(n) {
			t.Errorf("process %s outlived the tree", pid)
		}
	}
	n, _ := strconv.Atoi(inner[len(inner)-1])
	awaitChild(n)
	eventually(t, "the inner directory is removed", func() bool {
		_, err := os.Stat(l.find(t, "temp "))
		return err != nil
	})
	start(t, shell("exit 0")).Exit() // its sweep also kills the inner guard
	gone(t, inner[len(inner)-1])
}

// TestGuardReplaced checks that a killed guard is replaced, and that the new guard knows the
// directory.
func TestGuardReplaced(t *testing.T) {
	clean(t)
	dir, err := TempDir(1000)
	if err != nil {
		t.Fatal(err)
	}
	running.guardMu.Lock()
	first := running.guard.pid
	running.guardMu.Unlock()
	syscall.Kill(first, syscall.SIGKILL)
	awaitChild(first)
	l := newLines()
	s := child(t, "sleep")
	s.OnLine = l.add
	start(t, s)
	eventually(t, "there is another guard", func() bool {
		running.guardMu.Lock()
		defer running.guardMu.Unlock()
		return running.guard.alive() && running.guard.pid != first
	})
	if again, err := TempDir(1000); again != dir || err != nil {
		t.Errorf("got %s, %v, want %s", again, err, dir)
	}
}

// TestGuardItself checks that the guard ignores signals for pyplug and has no tag.
func TestGuardItself(t *testing.T) {
	clean(t)
	if _, err := TempDir(1000); err != nil {
		t.Fatal(err)
	}
	running.guardMu.Lock()
	pid := running.guard.pid
	running.guardMu.Unlock()
	proc := "/proc/" + strconv.Itoa(pid)
	eventually(t, "it has its name", func() bool {
		comm, _ := os.ReadFile(proc + "/comm")
		return string(comm) == guard.Name+"\n"
	})
	environ, _ := os.ReadFile(proc + "/environ")
	if got, want := string(environ), guard.Variable+"="+running.run+"\x00"; got != want {
		t.Errorf("environment %q, want %q", got, want)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		syscall.Kill(pid, s)
	}
	if cwd, err := os.Readlink(proc + "/cwd"); cwd != "/" {
		t.Errorf("it holds %s, %v", cwd, err)
	}
	for fd, want := range []string{"/dev/null", "/dev/null", "/dev/null"} {
		if got, _ := os.Readlink(proc + "/fd/" + strconv.Itoa(fd)); got != want {
			t.Errorf("descriptor %d is %s", fd, got)
		}
	}
	if !alive(pid) {
		t.Error("a signal ended it")
	}
}
