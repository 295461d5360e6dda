//go:build linux

package commands_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// manager receives what serve reports to a service manager.
type manager struct {
	*net.UnixConn
	t *testing.T
}

// managed makes programs of d report to a service manager at a path or an abstract name.
func (d *daemons) managed(address string) manager {
	d.t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(runnertest.WaitTimeout)); err != nil {
		d.t.Fatal(err)
	}
	d.env = append(d.env, "NOTIFY_SOCKET="+address)
	return manager{conn, d.t}
}

// next returns the next report.
func (m manager) next() string {
	m.t.Helper()
	b := make([]byte, 4096)
	n, err := m.Read(b)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b[:n])
}

// until reads reports up to the wanted one. Each before it must begin with prefix.
func (m manager) until(want, prefix string) {
	m.t.Helper()
	for got := m.next(); got != want; got = m.next() {
		if !strings.HasPrefix(got, prefix) {
			m.t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// TestKeepNotifies checks that serve notifies a service manager at a path or an abstract name, and
// that the plugin does not get the manager's variables.
func TestKeepNotifies(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{
		"a path": filepath.Join(filepath.Dir(runDir(t)), "notify"), "an abstract name": fmt.Sprintf("@pyplug-test-%d", os.Getpid()),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			m := d.managed(address)
			d.env = append(d.env, "WATCHDOG_USEC=20000")
			k := d.keep("testdata/plugins/inside.py")
			for _, want := range []string{"STATUS=starting: first start", "READY=1\nSTATUS=ready", "WATCHDOG=1", "WATCHDOG=1"} {
				m.until(want, "STATUS=ready")
			}
			d.wants("null", "call", "inside", "env", "NOTIFY_SOCKET")
			d.wants("null", "call", "inside", "env", "WATCHDOG_USEC")
			if err := k.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			for got := m.next(); !strings.HasPrefix(got, "STOPPING=1"); got = m.next() {
				if got != "WATCHDOG=1" && !strings.HasPrefix(got, "STATUS=") {
					t.Errorf("got %q", got)
				}
			}
			k.ends(t, 0)
		})
	}
}

// TestKeepWatchdog checks that serve reports to the service manager's watchdog while it stops and
// waits for a running call.
func TestKeepWatchdog(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	m := d.managed(filepath.Join(filepath.Dir(runDir(t)), "notify"))
	d.env = append(d.env, "WATCHDOG_USEC=20000")
	dir := t.TempDir()
	file, begun, end := filepath.Join(dir, "plugin.py"), filepath.Join(dir, "begun"), filepath.Join(dir, "end")
	const text = `import os, time
def hold(begun, end):
    open(begun, "w").close()
    while not os.path.exists(end):
        time.sleep(0.01)
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k := d.keep("--name", "p", file)
	m.until("READY=1\nSTATUS=ready", "")
	call := d.command("call", "p", "hold", begun, end)
	if err := call.Start(); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "the call has begun", func() bool { _, err := os.Stat(begun); return err == nil })
	if err := k.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.until("STOPPING=1\nSTATUS=stopping", "")
	m.until("WATCHDOG=1", "")
	m.until("WATCHDOG=1", "")
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = call.Wait() // fails on a machine so slow that the stop ended the call
	k.ends(t, 0)
}

// TestKeepStatus checks that the status of the unit is the state of the plugin, whatever happens to
// one of its workers. A reload that fails says so, and the old workers stay.
func TestKeepStatus(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	m := d.managed(filepath.Join(filepath.Dir(runDir(t)), "notify"))
	file := filepath.Join(t.TempDir(), "plugin.py")
	edit := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good, broken = "import os\ndef leave(): os._exit(3)\n", "def f(:\n"
	edit(good)
	k := d.keep("--workers", "2", "--name", "p", file)
	hangUp := func() {
		if err := k.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	const both = "STATUS=ready, 2 of 2 workers"
	const old = both + ": a new worker does not start, so the old one stays: SyntaxError: invalid syntax"
	m.until("STATUS=starting: first start", "")
	m.until(both, "")
	d.fails(8, "exited", "call", "p", "leave")
	m.until("STATUS=ready, 1 of 2 workers", both)
	m.until(both, "STATUS=ready, 1 of 2")

	edit(broken)
	d.fails(5, "note: the files of p start no new workers, so the old ones stay\nerror: start: SyntaxError", "restart", "p")
	m.until(old, both)
	hangUp()
	runnertest.Until(t, "the log reports it", func() bool {
		out, _, _ := d.pyplug("logs", "p")
		return strings.Contains(out, "SIGHUP: the plugin does not start, so the old plugin stays: SyntaxError: invalid syntax at ")
	})
	edit(good)
	hangUp()
	m.until(both, both)

	d.wants("", "stop", "p")
	m.until("STOPPING=1\nSTATUS=stopping", both)
	m.until("STATUS=stopped, 0 of 2 workers: stop was requested", "STATUS=stopping")
	k.ends(t, 0)
}

// TestKeepFailedStatus checks that the status of a unit that has failed says why.
func TestKeepFailedStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ plugin, want string }{
		"start": {"raise ValueError('no room\\nMAINPID=1')\n", "STATUS=failed: ValueError: no room"},
		"later": {"import os, threading\nthreading.Timer(0.1, os._exit, [3]).start()\n", "STATUS=failed: gave up restarting the plugin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			m := d.managed(filepath.Join(filepath.Dir(runDir(t)), "notify"))
			file := filepath.Join(t.TempDir(), "fails.py")
			if err := os.WriteFile(file, []byte(c.plugin), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := d.command("serve", "--restart", "no", "--preload", "off", file).Run(); err == nil {
				t.Error("it has not failed")
			}
			if _, err := m.WriteTo([]byte("END"), m.LocalAddr()); err != nil {
				t.Fatal(err)
			}
			last := ""
			for got := m.next(); got != "END"; got = m.next() {
				last = got
			}
			if last != c.want {
				t.Errorf("got %q, want %q", last, c.want)
			}
		})
	}
}

// TestUnits checks the systemd units in docs/recipes.md. It replaces the path of pyplug in them by
// the path of the program under test.
func TestUnits(t *testing.T) {
	t.Parallel()
	systemd, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is missing")
	}
	page, err := os.ReadFile("docs/recipes.md")
	if err != nil {
		t.Fatal(err)
	}
	units := regexp.MustCompile("(?s)```ini\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	for i, manager := range []string{"--system", "--user"} {
		unit := regexp.MustCompile(`[^\s=]+/bin/pyplug`).ReplaceAllString(units[i][1], program(t))
		file := filepath.Join(t.TempDir(), "pyplug@.service")
		if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
			t.Fatal(err)
		}
		verify := exec.CommandContext(t.Context(), systemd, "verify", "--man=no", manager, file)
		verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		out, err := verify.CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", manager, err, out)
		}
	}
}
