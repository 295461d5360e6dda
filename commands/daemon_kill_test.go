//go:build linux

package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

// TestDaemonKilled checks that, whichever process is killed, no process is left, and the next call
// or start works.
func TestDaemonKilled(t *testing.T) {
	t.Parallel()
	kill := func(t *testing.T, pid int) {
		t.Helper()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("the worker", func(t *testing.T) {
		t.Parallel()
		d := newDaemons(t)
		d.stopped("counter")
		d.wants("counter", "start", counter)
		d.wants("1", "call", "counter", "increment")
		old := d.worker("counter")
		kill(t, old)
		// A call before the death is detected would fail.
		runnertest.Until(t, "another takes its place", func() bool { now := d.worker("counter"); return now != 0 && now != old })
		d.wants("1", "call", "counter", "increment")
		if alive(old) {
			t.Error("the old worker is left")
		}
	})
	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprintf("the daemon, both %v", both), func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			d.stopped("counter")
			d.wants("counter", "start", counter)
			worker, state := d.worker("counter"), d.state("counter")
			if both {
				kill(t, worker)
			}
			kill(t, state.PID)
			runnertest.Until(t, "all is gone", func() bool {
				_, _, code := d.pyplug("status", "counter") // a dying daemon may still accept a connection
				return code == 9 && !alive(worker) && !alive(state.PID)
			})
			d.fails(9, "counter is not running", "call", "counter", "increment")
			d.wants("", "stop", "counter")
			d.wants("1", "call", "--auto-start", counter, "increment")
			d.wants("2", "call", "counter", "increment")
			d.wants("counter", "start", counter) // replaces the plugin of --auto-start, which would end by itself
			d.wants("1", "call", "counter", "increment")
		})
	}
}

// TestDaemonKilledDuringCall checks that a call that the daemon's death interrupts fails, and is
// not repeated.
func TestDaemonKilledDuringCall(t *testing.T) {
	t.Parallel()
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
	_ = cmd.Wait() // its exit code is checked
	if code := cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("exit code %d, want 9", code)
	}
	for _, want := range []string{
		"error: hang: the daemon of hang-sleep exited during the call\n", "  plugin: testdata/plugins/hang_sleep.py (python ",
		"hint: read its log: " + filepath.Join(d.run, "hang-sleep.log"),
	} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, errs.String())
		}
	}
	runnertest.Until(t, "it is not there any more", func() bool { // a dying daemon may still accept a connection
		_, errs, code := d.pyplug("status", "hang-sleep")
		return code == 9 && strings.Contains(errs, "is not running")
	})
	d.pyplug("status") // status checks all names, and removes the files of dead daemons
}

// TestDaemonStaleFiles checks that the files of a dead daemon do not prevent a start, and that no
// process gets a signal.
func TestDaemonStaleFiles(t *testing.T) {
	t.Parallel()
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
		_ = bystander.Wait() // it was killed
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
	for name, text := range map[string]string{"counter.json": string(id), "counter.log": "old\n", "torn.json": "{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.fails(9, "counter is not running", "call", "counter", "increment")
	d.wants("", "stop", "counter")
	d.wants("counter", "start", counter)
	d.wants("1", "call", "counter", "increment")
	d.pyplug("status") // status checks all names, and removes the files of dead daemons
	if !alive(bystander.Process.Pid) {
		t.Error("a process was ended that has the number of a daemon of before")
	}
}

// TestDaemonOfAnotherVersion checks that a daemon with another version of the protocol, for example
// from before HTTP, is listed and can be stopped.
func TestDaemonOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for _, api := range []string{`"api": 2`, `"api": 0`} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			d.stopped("counter")
			d.wants("counter", "start", counter)
			worker, file := d.worker("counter"), filepath.Join(d.run, "counter.json")
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, bytes.Replace(text, []byte(`"api": 1`), []byte(api), 1), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			d.fails(9, "another version of pyplug", "call", "--verbose", "counter", "increment")
			d.fails(9, "hint: run `pyplug stop counter`", "call", counter, "increment")
			d.fails(9, "another version of pyplug", "start", counter)
			out, errs, code := d.pyplug("status", "counter")
			if code != 0 || !strings.Contains(out, "unknown") || !strings.Contains(out, "started by another version of pyplug, ") {
				t.Errorf("its status is %q, %q", out, errs)
			}
			d.wants("", "stop", "counter")
			if alive(worker) {
				t.Error("the worker is left")
			}
			d.wants("counter", "start", counter)
			d.wants("1", "call", "counter", "increment")
		})
	}
}

// TestDaemonManyClients checks that fifty concurrent clients get their own answers.
func TestDaemonManyClients(t *testing.T) {
	t.Parallel()
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

// TestDaemonCallInterrupted checks that Ctrl-C ends only that call, and the daemon continues.
func TestDaemonCallInterrupted(t *testing.T) {
	t.Parallel()
	for _, hooked := range []string{"hang_sleep.py", "hang_c_loop.py"} {
		t.Run(hooked, func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			name := strings.ReplaceAll(strings.TrimSuffix(hooked, ".py"), "_", "-")
			d.stopped(name)
			d.wants(name, "start", "testdata/plugins/"+hooked)
			for _, flags := range [][]string{nil, {"--json"}} { // with fastcall, and with the ordinary code
				marker := filepath.Join(t.TempDir(), "marker")
				cmd := d.command(append(append([]string{"call"}, flags...), name, "hang", "marker="+marker)...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				runnertest.Until(t, "it hangs", runnertest.Exists(marker))
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait() // its exit code is checked
				if code := shellCode(cmd.ProcessState); code != 130 {
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

// TestDaemonHealthInBackoff checks that health reports the back-off of a plugin that is not
// running.
func TestDaemonHealthInBackoff(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	dir := t.TempDir()
	plugin, broken := filepath.Join(dir, "once.py"), filepath.Join(dir, "broken")
	text := fmt.Sprintf("import os\nif os.path.exists(%q):\n    os._exit(3)\ndef hook() -> None: pass\n", broken)
	if err := os.WriteFile(plugin, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d.stopped("once")
	d.wants("once", "start", "--preload", "off", plugin) // a fork would not import it again
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(d.worker("once"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "it is reported", func() bool {
		_, errs, code := d.pyplug("health", "once")
		return code == 9 && strings.Contains(errs, "the plugin is restarting, in back-off")
	})
}

// TestDaemonSuspended checks that a suspended daemon has the status unknown, that requests fail,
// and that stop ends all its processes.
func TestDaemonSuspended(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	d.stopped("greeter")
	d.wants("greeter", "start", greeter)
	worker, pid := d.worker("greeter"), d.state("greeter").PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "it has stopped", func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || bytes.Contains(text, []byte(") T "))
	})
	began := time.Now()
	var work sync.WaitGroup
	for _, words := range [][]string{
		{"call", "--auto-start", "--timeout", "1s", greeter, "greet", "World"}, {"start", greeter}, {"restart", "greeter"}, {"hooks", "greeter"}, {"call", "greeter", "greet", "World"},
	} {
		work.Go(func() { d.fails(9, "which does not respond\n", words...) })
	}
	want := fmt.Sprintf(`"state":"unknown","problem":"process %d did not respond within 2s","socket":`, pid)
	for _, words := range [][]string{{"status", "--json"}, {"status", "--json", "greeter"}} {
		work.Go(func() {
			if out, _, _ := d.pyplug(words...); !strings.Contains(out, want) || !strings.Contains(out, fmt.Sprintf(`"daemon_pid":%d`, pid)) {
				t.Errorf("%q: got %s", words, out)
			}
		})
	}
	work.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s to report that it does not answer", took)
	}
	for _, words := range [][]string{{"call", "--timeout", "200ms", "greeter", "greet", "World"}, {"health", "--timeout", "200ms", "greeter"}} {
		work.Go(func() {
			out, errs, code := d.pyplug(words...)
			if code != 124 || !strings.Contains(errs, fmt.Sprintf("timed out after 200ms: the name greeter is held by process %d, which does not respond\n", pid)) ||
				!strings.HasSuffix(errs, "\nhint: run `pyplug stop greeter` to stop it\n") || strings.Count(errs, "hint: ") != 1 {
				t.Errorf("%q: exit code %d, out %q, error output %q", words, code, out, errs)
			}
		})
	}
	work.Wait()
	d.wants("", "stop", "greeter")
	runnertest.Until(t, "all is gone", func() bool { return !alive(pid) && !alive(worker) })
	d.wants("greeter", "start", greeter)
}
