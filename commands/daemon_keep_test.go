//go:build linux

package commands_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// kept is a running `serve` of a test.
type kept struct {
	*exec.Cmd
	lines *bufio.Scanner // lines of its standard output
	errs  strings.Builder
}

// keep starts `serve` and waits until it is ready.
func (d *daemons) keep(words ...string) *kept {
	d.t.Helper()
	k := &kept{Cmd: d.command(append([]string{"serve"}, words...)...)}
	k.Stderr = &k.errs
	k.lines = bufio.NewScanner(reading(d.t, k.Cmd))
	return k
}

// next returns the next line of its standard output.
func (k *kept) next(t *testing.T) string {
	t.Helper()
	if !k.lines.Scan() {
		_ = k.Wait() // it ended, and its output says why
		t.Fatalf("it printed nothing more: %s", &k.errs)
	}
	return k.lines.Text()
}

// ends waits for its end and checks the exit code.
func (k *kept) ends(t *testing.T, code int) {
	t.Helper()
	for k.lines.Scan() {
		t.Logf("it also printed %q", k.lines.Text())
	}
	_ = k.Wait() // its exit code is checked
	if got := shellCode(k.ProcessState); got != code {
		t.Errorf("exit code %d, want %d\n%s", got, code, &k.errs)
	}
}

// TestKeepSignals checks that SIGTERM, which stops a service, ends serve with 0, and Ctrl-C with
// 130. SIGHUP restarts the workers if there is no terminal.
func TestKeepSignals(t *testing.T) {
	t.Parallel()
	for signal, code := range map[syscall.Signal]int{syscall.SIGTERM: 0, syscall.SIGINT: 130, syscall.SIGHUP: 0} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			k := d.keep(counter)
			var attach struct{ Name, Socket string }
			if err := json.Unmarshal([]byte(k.next(t)), &attach); err != nil || attach.Name != "counter" || !strings.HasPrefix(attach.Socket, d.run) {
				t.Errorf("it says to attach to %v, %v", attach, err)
			}
			worker := d.worker("counter")
			if err := k.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if signal == syscall.SIGHUP {
				k.next(t)
				if old := worker; d.worker("counter") == old {
					t.Error("the worker was not replaced")
				}
				d.wants("", "stop", "counter")
				k.ends(t, code)
				return
			}
			k.ends(t, code)
			if alive(worker) {
				t.Error("the worker is left")
			}
			if text := k.errs.String(); !strings.HasSuffix(text, "ended: "+unix.SignalName(signal)+"\n") {
				t.Errorf("its log on standard error is %q, want the signal that ended it last", text)
			}
		})
	}
}

// TestKeepKilled checks that serve does not exit with 0 if the plugin is killed, by a second signal
// or after --stop-timeout.
func TestKeepKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		words   []string
		signals int
	}{
		"by a second signal": {[]string{"--stop-timeout", "60s", "testdata/plugins/hang_atexit.py"}, 2},
		"in the end":         {[]string{"--stop-timeout", "100ms", "testdata/plugins/hang_atexit.py"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			k := d.keep(c.words...)
			k.next(t)
			worker := d.worker("hang-atexit")
			for i := range c.signals {
				if i > 0 { // two pending signals count as one
					runnertest.Until(t, "it stops", func() bool {
						out, _, _ := d.pyplug("status", "hang-atexit")
						return strings.Contains(out, "stopping")
					})
				}
				if err := k.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
			}
			k.ends(t, 143)
			if alive(worker) {
				t.Error("the worker is left")
			}
		})
	}
}

// TestKeepHaste checks that signals in quick succession leave no file of the plugin's name.
func TestKeepHaste(t *testing.T) {
	t.Parallel()
	for _, signals := range [][]syscall.Signal{
		{syscall.SIGQUIT, syscall.SIGINT}, {syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGINT},
	} {
		t.Run(fmt.Sprint(signals), func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			k := d.keep(counter)
			k.next(t)
			for _, signal := range signals {
				if err := k.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
			}
			_ = k.Wait() // the exit code belongs to the first signal
			left, err := os.ReadDir(d.run)
			left = slices.DeleteFunc(left, func(e os.DirEntry) bool { return e.Name() == "counter.log" }) // the log outlives the plugin
			if len(left) > 0 || err != nil {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}

// TestKeepOutput checks that a standard output that is full or closed does not end serve.
func TestKeepOutput(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"full": `exec pyplug serve "$1" >/dev/full`, "closed": `exec pyplug serve "$1" >&-`,
		"reader gone": `pyplug serve "$1" | true`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			cmd := exec.CommandContext(d.ctx, "sh", "-c", line, "sh", counter)
			cmd.Env = append(d.env, "PATH="+filepath.Dir(d.bin)+":"+os.Getenv("PATH"))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			d.waits("1", "call", "counter", "increment")
			d.fails(8, "", "call", "counter", "crash")
			d.wants("1", "call", "counter", "increment")
			d.wants("", "stop", "counter")
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// waits runs pyplug until it succeeds, and checks its output.
func (d *daemons) waits(want string, words ...string) {
	d.t.Helper()
	var out string
	runnertest.Until(d.t, strings.Join(words, " "), func() bool {
		var code int
		out, _, code = d.pyplug(words...)
		return code == 0
	})
	if out != want+"\n" {
		d.t.Fatalf("got %q, want %q", out, want)
	}
}

// TestKeepWatch checks that --watch loads a changed file. While the new file does not start, the
// old worker stays. If the old worker dies, calls fail with the traceback until the file is fixed.
func TestKeepWatch(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	file := filepath.Join(t.TempDir(), "watched.py")
	edit := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit("def version(): return 1\n")
	d.stopped("watched")
	d.wants("watched", "start", "--watch", file)
	d.wants("1", "call", "watched", "version")
	edit("def version(): return 22\n")
	runnertest.Until(t, "the new one answers", func() bool {
		out, _, code := d.pyplug("call", "watched", "version")
		return code == 0 && out == "22\n"
	})
	for _, broken := range [][2]string{
		{"def version(): return 1\n\ndef later(:\n", "SyntaxError: invalid syntax at watched.py:3: def later(:"},
		{"raise RuntimeError('no room')\n", "RuntimeError: no room at watched.py:1"},
	} {
		edit(broken[0])
		runnertest.Until(t, "the log reports it", func() bool {
			out, _, _ := d.pyplug("logs", "watched")
			return strings.Contains(out, "does not start, so the old plugin stays: "+broken[1])
		})
		out, note, code := d.pyplug("call", "watched", "version")
		if out != "22\n" || code != 0 || !strings.Contains(note, "does not start: "+broken[1]) || strings.Contains(note, "restart") {
			t.Errorf("got %q, %d and %q", out, code, note)
		}
	}
	if err := syscall.Kill(d.worker("watched"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "its death is seen", func() bool { return d.worker("watched") == 0 })
	for range 2 { // during the restart, and then during the delay
		out, errs, code := d.pyplug("call", "watched", "version")
		if code != 5 || out != "" || !strings.Contains(errs, "RuntimeError: no room") || !strings.Contains(errs, "watched.py:1") || !strings.Contains(errs, "restarts in") && !strings.Contains(errs, "is restarting") {
			t.Errorf("got %q, exit code %d\n%s", out, code, errs)
		}
	}
	status, _, _ := d.pyplug("status")
	if !strings.Contains(status, "it does not start: RuntimeError: no room") || strings.Contains(status, "old one stays") {
		t.Errorf("status prints\n%s", status)
	}
	d.fails(9, "RuntimeError: no room", "health", "watched")
	edit("def version(): return 333\n")
	d.wants("333", "call", "watched", "version")
}

// TestDaemonHooksWhileBusy checks that the command hooks answers while the only worker is busy.
func TestDaemonHooksWhileBusy(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	d.stopped("hang-sleep")
	d.wants("hang-sleep", "start", "--stop-timeout", "0.1", "testdata/plugins/hang_sleep.py")
	old := d.worker("hang-sleep")
	for _, restarted := range []bool{false, true} {
		if restarted {
			d.wants("", "restart", "hang-sleep")
		}
		marker := filepath.Join(t.TempDir(), "marker")
		call := d.command("call", "hang-sleep", "hang", "marker="+marker)
		if err := call.Start(); err != nil {
			t.Fatal(err)
		}
		runnertest.Until(t, "it hangs", runnertest.Exists(marker))
		if out, _, _ := d.pyplug("hooks", "--json", "hang-sleep", "hang"); !strings.Contains(out, `"template":{"marker":"","seconds":3600.0}`) {
			t.Errorf("the hook is %q", out)
		}
		if out, _, _ := d.pyplug("hooks", "--schema", "hang-sleep"); !strings.Contains(out, "additionalProperties") {
			t.Errorf("its schemas are %q", out)
		}
		if out, _, _ := d.pyplug("hooks", "hang-sleep"); !strings.Contains(out, "hang(marker") {
			t.Errorf("its hooks are %q", out)
		}
		if out, _, _ := d.pyplug("__complete", "call", "hang-sleep", ""); !strings.Contains(out, "hang") {
			t.Errorf("completed are %q", out)
		}
		if err := call.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = call.Wait() // it was interrupted
	}
	if now := d.worker("hang-sleep"); now == old {
		t.Error("it was not restarted")
	}
}

// TestKeepAsInit checks that as process 1 serve passes SIGTERM on to the plugin, and leaves no
// zombies of orphaned processes.
func TestKeepAsInit(t *testing.T) {
	t.Parallel()
	namespace := []string{"unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if out, err := exec.Command(namespace[0], append(namespace[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no namespaces: %v: %s", err, out)
	}
	d := newDaemons(t)
	plugin := filepath.Join(t.TempDir(), "orphans.py")
	if err := os.WriteFile(plugin, []byte(orphans), 0o600); err != nil {
		t.Fatal(err)
	}
	words := append(namespace[1:], d.bin, "serve", plugin)
	k := &kept{Cmd: exec.CommandContext(d.ctx, namespace[0], words...)}
	k.Env, k.Stderr = d.env, &k.errs
	k.lines = bufio.NewScanner(reading(t, k.Cmd))
	k.next(t)
	d.wants("[1,20]", "call", "orphans", "make", "20")
	runnertest.Until(t, "no zombies", func() bool {
		out, _, _ := d.pyplug("call", "orphans", "zombies")
		return out == "0\n"
	})
	d.wants("true", "call", "orphans", "terminate")
	k.ends(t, 0)
}

const orphans = `
import os, signal
def make(n: int):
    for _ in range(n):
        if (child := os.fork()) == 0:
            if os.fork() == 0:
                os.setsid()
            os._exit(0)
        os.waitpid(child, 0)
    top = os.getpid()
    while (parent := int(open(f"/proc/{top}/stat").read().rsplit(")", 1)[1].split()[1])) > 0:
        top = parent
    return [top, n]
def zombies():
    return sum(") Z " in open(f"/proc/{pid}/stat").read() for pid in os.listdir("/proc") if pid.isdigit())
def terminate():
    import threading
    threading.Timer(0.1, os.kill, (1, signal.SIGTERM)).start()
    return True
`
