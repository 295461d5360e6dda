//go:build linux

package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// daemons is an environment for background plugins of a test. Plugins that still run at the end
// fail the test.
type daemons struct {
	t   *testing.T
	bin string // the path of pyplug
	run string // PYPLUG_RUN_DIR
	tag string // in the environment of all its processes
	env []string
	ctx context.Context // limits each test
}

func newDaemons(t *testing.T) *daemons {
	t.Helper()
	python := runnertest.Python(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	t.Cleanup(cancel)
	d := &daemons{t: t, ctx: ctx, tag: fmt.Sprintf("TEST_TAG=%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid())}
	t.Cleanup(func() {
		// stop waits for the plugin, whose daemon ends soon after.
		runnertest.Soon(func() bool { return len(runnertest.WithEnv(d.tag)) == 0 })
		for _, pid := range runnertest.WithEnv(d.tag) {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			t.Errorf("process %d is left: %q", pid, text)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	d.run = runDir(t)
	d.bin = filepath.Join(t.TempDir(), "pyplug")
	if err := os.Symlink(self, d.bin); err != nil {
		t.Fatal(err)
	}
	d.env = append(os.Environ(), "PYPLUG_PYTHON="+python, "XDG_CACHE_HOME="+filepath.Join(t.TempDir(), "cache"),
		"PYPLUG_RUN_DIR="+d.run, d.tag, "NOTIFY_SOCKET=", "PYPLUG_TEST_REQUIRE=") // any other variable of pyplug would disable fastcall
	return d
}

// command returns a command that runs pyplug.
func (d *daemons) command(words ...string) *exec.Cmd {
	cmd := exec.CommandContext(d.ctx, d.bin, words...)
	cmd.Env = d.env
	return cmd
}

// pyplug runs pyplug to its end.
func (d *daemons) pyplug(words ...string) (out, errs string, code int) {
	d.t.Helper()
	var o, e bytes.Buffer
	cmd := d.command(words...)
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	exit := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		d.t.Fatal(err)
	}
	return o.String(), e.String(), shellCode(cmd.ProcessState)
}

// wants runs pyplug, which must succeed and print want.
func (d *daemons) wants(want string, words ...string) {
	d.t.Helper()
	out, errs, code := d.pyplug(words...)
	if code != 0 || strings.TrimSuffix(out, "\n") != want {
		d.t.Fatalf("%q: got %q, exit code %d, want %q\n%s", words, out, code, want, errs)
	}
}

// fails runs pyplug, which must fail with code and print want.
func (d *daemons) fails(code int, want string, words ...string) {
	d.t.Helper()
	out, errs, got := d.pyplug(words...)
	if got != code || !strings.Contains(errs, want) {
		d.t.Fatalf("%q: exit code %d, want %d, and %q in\n%s\nout %q", words, got, code, want, errs, out)
	}
}

// stopped checks at the end of the test that the plugins with these names are stopped.
func (d *daemons) stopped(names ...string) {
	d.t.Cleanup(func() {
		if _, errs, code := d.pyplug(append([]string{"stop"}, names...)...); code != 0 {
			d.t.Errorf("stop %q: exit code %d\n%s", names, code, errs)
		}
	})
}

// state is the content of a name's state file.
type state struct {
	PID          int
	Socket, Log  string
	Name, Plugin string
}

func (d *daemons) state(name string) state {
	d.t.Helper()
	var s state
	text, err := os.ReadFile(filepath.Join(d.run, name+".json"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// worker returns the process of a name's plugin.
func (d *daemons) worker(name string) int {
	d.t.Helper()
	out, errs, code := d.pyplug("status", "--json", name)
	var shape struct{ Plugins []struct{ PID int } }
	if err := json.Unmarshal([]byte(out), &shape); err != nil || code != 0 || len(shape.Plugins) != 1 {
		d.t.Fatalf("status of %s: %q, %s", name, out, errs)
	}
	return shape.Plugins[0].PID
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

const (
	greeter = "testdata/plugins/greeter.py"
	counter = "testdata/plugins/counter.py"
)
