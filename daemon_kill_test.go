//go:build linux

package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// Whatever is killed, nothing of it stays, and the next one to come finds the way.
func TestDaemonKilled(t *testing.T) {
	kill := func(t *testing.T, pid int) {
		t.Helper()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("the worker", func(t *testing.T) {
		d := newDaemons(t)
		d.stopped("counter")
		d.wants("counter", "start", counter)
		d.wants("1", "call", "counter", "increment")
		old := d.worker("counter")
		kill(t, old)
		// A call that comes before its death is known is told of that.
		runnertest.Until(t, "another takes its place", func() bool { now := d.worker("counter"); return now != 0 && now != old })
		d.wants("1", "call", "counter", "increment")
		if alive(old) {
			t.Error("the old worker lives")
		}
	})
	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprintf("the daemon, both %v", both), func(t *testing.T) {
			d := newDaemons(t)
			d.stopped("counter")
			d.wants("counter", "start", counter)
			worker, state := d.worker("counter"), d.state("counter")
			if both {
				kill(t, worker)
			}
			kill(t, state.PID)
			runnertest.Until(t, "all is gone", func() bool {
				_, _, code := d.pyplug("status", "counter") // while it dies a connection may still be taken
				return code == 9 && !alive(worker) && !alive(state.PID)
			})
			d.fails(9, "counter is not running", "call", "counter", "increment")
			d.wants("", "stop", "counter")
			d.wants("1", "call", "--auto-start", counter, "increment")
			d.wants("2", "call", "counter", "increment")
			d.wants("counter", "start", counter) // in the place of one that would end by itself
			d.wants("1", "call", "counter", "increment")
		})
	}
}

// A call that the daemon's death ends is told so, and is not made again.
func TestDaemonKilledDuringCall(t *testing.T) {
	d := newDaemons(t)
	d.wants("hang-sleep", "start", "testdata/plugins/hang_sleep.py")
	marker := filepath.Join(t.TempDir(), "marker")
	cmd := d.command("call", "hang-sleep", "hang", "marker="+marker)
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "it hangs", runnertest.Exists(marker))
	if err := syscall.Kill(d.state("hang-sleep").PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its code is looked at
	if code := cmd.ProcessState.ExitCode(); code != 9 || !strings.Contains(errs.String(), "ended during the call") {
		t.Errorf("exit code %d, want 9\n%s", code, errs.String())
	}
	d.fails(9, "is not running", "status", "hang-sleep")
	d.pyplug("status") // which looks at all, and removes what is left
}

// Files of another life are no hindrance, and no reason to signal anybody.
func TestDaemonStaleFiles(t *testing.T) {
	d := newDaemons(t)
	d.stopped("counter")
	dir := d.run
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	bystander := exec.Command("sleep", "600")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = bystander.Process.Kill()
		_ = bystander.Wait() // as it was killed
	}()
	listener, err := net.Listen("unix", filepath.Join(dir, "counter.sock"))
	if err != nil {
		t.Fatal(err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	listener.Close()
	id, err := json.Marshal(map[string]any{"name": "counter", "entry": "/gone.py", "pid": bystander.Process.Pid, "mark": "1", "boot": "before"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"counter.json": string(id), "counter.lock": "", "counter.log": "old\n", "torn.json": "{", "torn.lock": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.fails(9, "counter is not running", "call", "counter", "increment")
	d.wants("", "stop", "counter")
	d.wants("counter", "start", counter)
	d.wants("1", "call", "counter", "increment")
	d.pyplug("status") // which looks at all, and removes what is left
	if !alive(bystander.Process.Pid) {
		t.Error("a process was ended that has the number of a daemon of before")
	}
}

// Where sockets cannot be is told, and where somebody else could put one is not used.
func TestDaemonDirectories(t *testing.T) {
	for name, c := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"a link":       {func(dir string) error { return os.Symlink(t.TempDir(), dir) }, "is not a directory"},
		"open to all":  {func(dir string) error { return os.Mkdir(dir, 0o755) }, "not 0700"},
		"a file":       {func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, "is not a directory"},
		"another's":    {func(dir string) error { return chown(dir, 12345) }, "belongs to user 12345"},
		"not writable": {func(dir string) error { return os.Mkdir(dir, 0o500) }, "not 0700"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDaemons(t)
			dir := d.run
			if name == "another's" && os.Geteuid() != 0 {
				t.Skip("only root can give a directory away")
			}
			if err := c.make(dir); err != nil {
				t.Fatal(err)
			}
			d.fails(9, dir, "start", greeter)
			d.fails(9, "", "call", "greeter", "greet", "World")
		})
	}
	t.Run("a long name", func(t *testing.T) {
		d := newDaemons(t)
		d.fails(2, "too long for the path of a socket", "start", "--name", strings.Repeat("x", 100), greeter)
	})
}

func chown(dir string, uid int) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Chown(dir, uid, uid)
}

// A daemon of another pyplug is told apart; it is shown, and can be stopped.
func TestDaemonOfAnotherVersion(t *testing.T) {
	d := newDaemons(t)
	other := newCopy(t, d.bin)
	d.stopped("counter")
	own := d.bin
	d.bin = other
	d.wants("counter", "start", counter)
	d.bin = own
	d.fails(9, "another pyplug", "call", "counter", "increment")
	d.fails(9, "hint: `pyplug stop counter`", "call", counter, "increment")
	d.fails(9, "another pyplug", "start", counter)
	out, errs, code := d.pyplug("status", "counter")
	if code != 0 || !strings.Contains(out, "ready") {
		t.Errorf("its status is %q, %q", out, errs)
	}
	d.wants("", "stop", "counter")
	d.wants("counter", "start", counter)
	d.wants("1", "call", "counter", "increment")
}

// newCopy copies a program: another build, as far as pyplug knows.
func newCopy(t *testing.T, program string) string {
	t.Helper()
	in, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	path := filepath.Join(t.TempDir(), "pyplug")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	return path
}

// A log that cannot be written costs lines and no calls.
func TestDaemonLogFull(t *testing.T) {
	d := newDaemons(t)
	d.stopped("prints")
	dir := d.run
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", filepath.Join(dir, "prints.log")); err != nil {
		t.Fatal(err)
	}
	d.wants("prints", "start", "testdata/plugins/prints.py")
	for range 3 {
		d.wants(`"by print"`, "call", "prints", "by_print", "hello")
	}
}

// Fifty clients at once all get their answers, each its own.
func TestDaemonManyClients(t *testing.T) {
	d := newDaemons(t)
	d.stopped("greeter")
	d.wants("greeter", "start", greeter)
	var work sync.WaitGroup
	for i := range 50 {
		work.Go(func() {
			name := fmt.Sprint("client ", i)
			want := fmt.Sprintf("\"Hello, %s\"\n", name)
			if out, errs, code := d.pyplug("call", "greeter", "greet", "="+name); out != want || code != 0 {
				t.Errorf("got %q, want %q, exit code %d\n%s", out, want, code, errs)
			}
		})
	}
	work.Wait()
}

// Ctrl-C ends just that call: the others go on, in the same process.
func TestDaemonCallInterrupted(t *testing.T) {
	for _, hooked := range []string{"hang_sleep.py", "hang_c_loop.py"} {
		t.Run(hooked, func(t *testing.T) {
			d := newDaemons(t)
			name := strings.ReplaceAll(strings.TrimSuffix(hooked, ".py"), "_", "-")
			d.stopped(name)
			d.wants(name, "start", "testdata/plugins/"+hooked)
			for _, flags := range [][]string{nil, {"--json"}} { // the warm way, and the ordinary one
				marker := filepath.Join(t.TempDir(), "marker")
				cmd := d.command(append(append([]string{"call"}, flags...), name, "hang", "marker="+marker)...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				runnertest.Until(t, "it hangs", runnertest.Exists(marker))
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait() // its code is looked at
				if code := cmd.ProcessState.ExitCode(); code != 130 {
					t.Errorf("%q: exit code %d, want 130", flags, code)
				}
				ctx, cancel := context.WithTimeout(d.ctx, 20*time.Second)
				defer cancel()
				next := exec.CommandContext(ctx, d.bin, "call", name, "pid")
				next.Env = d.env
				if out, err := next.CombinedOutput(); err != nil {
					t.Errorf("the next call: %v\n%s", err, out)
				}
			}
		})
	}
}

// A daemon that is suspended is shown as that, and stop ends it with all it has.
func TestDaemonSuspended(t *testing.T) {
	d := newDaemons(t)
	d.stopped("greeter")
	d.wants("greeter", "start", greeter)
	worker, pid := d.worker("greeter"), d.state("greeter").PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := d.pyplug("status", "greeter"); !strings.Contains(out, "unknown") {
		t.Errorf("its status is %q", out)
	}
	d.wants("", "stop", "greeter")
	runnertest.Until(t, "all is gone", func() bool { return !alive(pid) && !alive(worker) })
	d.wants("greeter", "start", greeter)
}
