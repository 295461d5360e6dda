package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/pyplug/pyplug/runner/proc/guard"
)

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

// TestUntaggedOrphan checks that an orphan without an environment, which could belong to any living
// process, is killed with the last one.
func TestUntaggedOrphan(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "sleep")
	s.OnLine = l.add
	neighbour := start(t, s)
	s = child(t, "escape", "stay", "bare")
	used.Store("middle", true)
	s.OnLine = l.add
	p := start(t, s)
	pid, _ := strconv.Atoi(l.find(t, "grandchild "))
	p.Kill()
	if !alive(pid) {
		t.Error("the grandchild is gone while a process lives that could have started it")
	}
	neighbour.Kill()
	if alive(pid) {
		t.Error("the grandchild outlives the last process")
	}
}

// TestTagOfTheDead checks that an orphan whose tree is gone is killed, whatever other processes
// live.
func TestTagOfTheDead(t *testing.T) {
	clean(t)
	start(t, child(t, "sleep"))
	other := exec.Command("/bin/sleep", "1000")
	other.Env = []string{guard.Tag + "=" + running.element(running.count.Add(1))}
	other.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	must(other.Start())
	start(t, shell("exit 0")).Exit()
	if alive(other.Process.Pid) {
		t.Error("it is alive")
		other.Process.Kill()
	}
	other.Wait()
}

// chain starts a chain of processes: each forks the next one and exits without a pause. If each is
// set, every process has its own session; otherwise they share one. The last process creates the
// file survived. The runtime does not notice, because only system calls follow a fork.
//
//go:norace
func chain(survived *byte, each bool) {
	const links = 3000
	for i := range links {
		pid, _, err := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		switch {
		case pid != 0 && i == 0:
			return
		case pid != 0 || err != 0:
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
		if i == 0 || each {
			syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
		}
	}
	const workingDirectory = -100 // AT_FDCWD
	at := workingDirectory
	syscall.RawSyscall6(syscall.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(survived)), syscall.O_CREAT|syscall.O_WRONLY, 0o600, 0, 0)
	syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
}

func init() {
	// chain starts a chain that holds a lock on the file args[0].
	behaviors["chain"] = func(args []string) {
		fd, err := syscall.Open(args[0], syscall.O_RDWR, 0)
		must(err)
		must(syscall.Flock(fd, syscall.LOCK_EX))
		survived, err := syscall.BytePtrFromString(args[0] + ".survived")
		must(err)
		runtime.LockOSThread()
		chain(survived, len(args) > 1)
		fmt.Println("chained")
		forever()
	}
}

// chainLock creates the file that a chain locks. over reports whether the chain has ended, and
// fails the test if nobody has ended it.
func chainLock(t *testing.T) (path string, over func() bool) {
	path = filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return path, func() bool {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			return false
		}
		if _, err := os.Stat(path + ".survived"); err == nil {
			t.Error("the chain came to its end")
		}
		return true
	}
}

// TestChain checks that processes that leave the session, fork and exit without a pause do not
// outlive the tree.
func TestChain(t *testing.T) {
	for _, kind := range []string{"", " each"} {
		for range 5 {
			t.Run("setsid"+kind, func(t *testing.T) {
				clean(t)
				start(t, child(t, "sleep")) // a process that could have started untagged orphans
				path, over := chainLock(t)
				l := newLines()
				s := child(t, "chain", strings.Fields(path+kind)...)
				s.OnLine = l.add
				p := start(t, s)
				l.find(t, "chained")
				p.Kill()
				if !over() {
					t.Error("the chain goes on when Done is closed")
				}
			})
		}
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

// TestOrphanReaped checks that an orphan that dies while the process is alive does not remain a
// zombie.
func TestOrphanReaped(t *testing.T) {
	clean(t)
	l := newLines()
	s := child(t, "escape", "stay", "bare")
	s.OnLine = l.add
	p := start(t, s)
	pid, _ := strconv.Atoi(l.find(t, "grandchild "))
	syscall.Kill(pid, syscall.SIGKILL)
	eventually(t, "the orphan is reaped", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	if err := p.Interrupt(); err != nil {
		t.Errorf("the process: %v", err)
	}
}

// TestStrangers checks that the sweep does not touch processes outside of its tree.
func TestStrangers(t *testing.T) {
	clean(t)
	other := exec.Command("/bin/sleep", "1000")
	other.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	dead := exec.Command("/bin/sh", "-c", "exit 9")
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
	// The Go program adds the descriptors of its poller and of the directory.
	if strings.Join(high, " ") != strconv.Itoa(firstHigh) || len(low) > 6 {
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
	if got, want := l.find(t, guard.Tag+"="), "0123456789.1:"+running.element(p.tree.n); got != want {
		t.Errorf("got %s, want %s", got, want)
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
