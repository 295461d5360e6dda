package proc

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

func TestRealTimeSignal(t *testing.T) {
	clean(t)
	for number, name := range map[string]string{"34": "SIGRTMIN", "37": "SIGRTMIN+3", "64": "SIGRTMIN+30"} {
		if e := start(t, shell("kill -"+number+" $$")).Exit(); e.Signal != name || e.Code != -1 {
			t.Errorf("signal %s: %+v", number, e)
		}
	}
}

// gone waits until a process is gone and reaped.
func gone(t *testing.T, pid string) {
	t.Helper()
	eventually(t, "process "+pid+" is gone", func() bool {
		_, err := os.Stat("/proc/" + pid)
		return err != nil
	})
}

func TestEscaped(t *testing.T) {
	for _, args := range [][]string{{"stay"}, {"go"}, {"stay", "bare"}, {"go", "bare"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			clean(t)
			l := newLines()
			s := child(t, "escape", args...)
			used.Store("middle", true)
			s.OnLine = l.add
			p := start(t, s)
			pid := l.find(t, "grandchild ")
			if args[0] == "stay" {
				p.Stop(t.Context(), nil)
			}
			p.Exit()
			if _, err := os.Stat("/proc/" + pid); err == nil {
				t.Error("the grandchild is there when Done is closed")
			}
		})
	}
}

func TestUnreaped(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "unreaped")
	s.OnLine = l.add
	p := start(t, s)
	pid := l.find(t, "child ")
	eventually(t, "the child is a zombie", func() bool {
		stat, _ := os.ReadFile("/proc/" + pid + "/stat")
		return strings.Contains(string(stat), ") Z ")
	})
	p.Kill()
	if _, err := os.Stat("/proc/" + pid); err == nil {
		t.Error("the zombie is there when Done is closed")
	}
}

// An orphan that dies while the process lives on does not stay a zombie.
func TestOrphanReaped(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "escape", "stay", "bare")
	s.OnLine = l.add
	p := start(t, s)
	pid, _ := strconv.Atoi(l.find(t, "grandchild "))
	syscall.Kill(pid, syscall.SIGKILL)
	awaitChild(pid)
	held.tidyUp()
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("the orphan: %v", err)
	}
	if err := p.Interrupt(); err != nil {
		t.Errorf("the process: %v", err)
	}
}

// The sweep leaves alone what is not of its tree.
func TestStrangers(t *testing.T) {
	clean(t)
	other := exec.Command("/bin/sleep", "1000")
	other.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	dead := exec.Command("/bin/sh", "-c", "exit 9")
	dead.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := dead.Start(); err != nil {
		t.Fatal(err)
	}
	l := newLines()
	s := child(t, "sleep")
	s.OnLine = l.add
	neighbour := start(t, s)
	l.find(t, "ready")
	for range 5 {
		start(t, shell("exit 0")).Exit()
	}
	select {
	case <-neighbour.Done():
		t.Error("the neighbour was ended")
	default:
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other child: %v", err)
	}
	other.Process.Kill()
	other.Wait()
	if dead.Wait(); dead.ProcessState.ExitCode() != 9 {
		t.Errorf("the other dead child: %v", dead.ProcessState)
	}
}

func TestDescriptors(t *testing.T) {
	clean(t)
	inherited, err := syscall.Dup(0) // without close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	l := newLines()
	s := child(t, "files")
	s.OnLine = l.add
	start(t, s).Exit()
	var high, low []string
	for _, line := range l.list() {
		fd, ok := strings.CutPrefix(line.Text, "fd ")
		if n, _ := strconv.Atoi(fd); ok && n > 100 {
			high = append(high, fd)
		} else if ok {
			low = append(low, fd)
		}
	}
	// The Go program adds its poller's and the directory's.
	if strings.Join(high, " ") != strconv.Itoa(lifelineAt) || len(low) > 6 {
		t.Errorf("descriptors %v %v", low, high)
	}
	if l.find(t, "own group ") != "true" {
		t.Error("not in its own group")
	}
}

func TestTag(t *testing.T) {
	clean(t)
	t.Setenv(guard.Tag, "0123456789.1")
	l := newLines()
	s := child(t, "env")
	s.Env = append(s.Env, guard.Tag+"=other")
	s.OnLine = l.add
	p := start(t, s)
	p.Exit()
	if got, want := l.find(t, guard.Tag+"="), "0123456789.1:"+held.run.Element(p.tree.n); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// runPyplug runs a program that uses this package and starts the behaviours
// args. bury waits for it when it was killed, and takes in the dead that it
// leaves to us, its subreaper.
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
	l = newLines()
	done := make(chan struct{})
	go func() {
		defer close(done)
		o := output{onLine: l.add}
		o.drain(Stdout, &lingering{File: r})
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

// dead waits until processes are dead and tells how long it took, which must
// be less than two seconds.
func dead(t *testing.T, pids []string) {
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
	if took > 2*time.Second {
		t.Errorf("dead after %v", took)
	}
}

// When pyplug is killed, nothing of any sort outlives it.
func TestGuard(t *testing.T) {
	clean(t)
	t.Setenv(withShort, "yes")
	pyplug, l, bury := runPyplug(t, "sleep", "spin", "stubborn", "closer", "escape stay", "escape stay bare")
	l.find(t, "closed")
	l.find(t, "spinning")
	eventually(t, "two grandchildren", func() bool { return len(rests(l, "grandchild ")) == 2 })
	dirs := []string{l.find(t, "temp "), l.find(t, "short ")}
	all := append(rests(l, "process "), rests(l, "grandchild ")...)
	all = append(all, l.find(t, "guard "))
	pyplug.Kill()
	dead(t, all)
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is still there", dir)
		}
	}
	bury()
	for _, pid := range all {
		gone(t, pid)
	}
}

// The kernel alone ends the groups, without a guard.
func TestLifeline(t *testing.T) {
	clean(t)
	pyplug, l, bury := runPyplug(t, "sleep", "spin", "stubborn", "closer")
	l.find(t, "closed")
	l.find(t, "spinning")
	guard, _ := strconv.Atoi(l.find(t, "guard "))
	syscall.Kill(guard, syscall.SIGKILL)
	eventually(t, "the guard is dead", func() bool { return !alive(guard) })
	pyplug.Kill()
	dead(t, rests(l, "process "))
	bury()
}

func rests(l *lines, prefix string) (rests []string) {
	for _, line := range l.list() {
		if rest, ok := strings.CutPrefix(line.Text, prefix); ok {
			rests = append(rests, rest)
		}
	}
	return rests
}

// awaitChild waits until a child of ours can be reaped. A process of several
// threads may look dead some time before.
func awaitChild(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ") && !strings.Contains(string(stat), ") X ")
}

// A pyplug inside a plugin of another one goes with that plugin.
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
	start(t, shell("exit 0")).Exit() // whose sweep takes the inner guard along
	gone(t, inner[len(inner)-1])
}

// A guard that was killed is replaced, and its successor knows the directory.
func TestGuardReplaced(t *testing.T) {
	clean(t)
	dir, err := TempDir()
	if err != nil {
		t.Fatal(err)
	}
	held.watch.Lock()
	first := held.guard.pid
	held.watch.Unlock()
	syscall.Kill(first, syscall.SIGKILL)
	awaitChild(first)
	l := newLines()
	s := child(t, "sleep")
	s.OnLine = l.add
	start(t, s)
	eventually(t, "there is another guard", func() bool {
		held.watch.Lock()
		defer held.watch.Unlock()
		return held.guard.alive() && held.guard.pid != first
	})
	if again, err := TempDir(); again != dir || err != nil {
		t.Errorf("got %s, %v, want %s", again, err, dir)
	}
}

// The guard is deaf to what is meant for pyplug, and carries no mark.
func TestGuardItself(t *testing.T) {
	clean(t)
	if _, err := TempDir(); err != nil {
		t.Fatal(err)
	}
	held.watch.Lock()
	pid := held.guard.pid
	held.watch.Unlock()
	proc := "/proc/" + strconv.Itoa(pid)
	eventually(t, "it has its name", func() bool {
		comm, _ := os.ReadFile(proc + "/comm")
		return string(comm) == guard.Name+"\n"
	})
	environ, _ := os.ReadFile(proc + "/environ")
	if got, want := string(environ), guard.Variable+"="+held.run.String()+"\x00"; got != want {
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

func TestLittleDescriptors(t *testing.T) {
	clean(t)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	small := limit
	small.Cur = 100
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &small); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	l := newLines()
	s := child(t, "files")
	s.OnLine = l.add
	if e := start(t, s).Exit(); e.Code != 0 {
		t.Errorf("%+v", e)
	}
	if l.find(t, "fd 68") != "" {
		t.Errorf("%+v", l.list())
	}
}
