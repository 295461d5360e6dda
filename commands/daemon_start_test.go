//go:build linux

package commands_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestStartReturns checks that start returns although its daemon stays, even if the caller waits
// for the end of start's descriptors, as a shell's $(…) does.
func TestStartReturns(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	d.stopped("greeter")
	var open [7]*os.File // the descriptors 3 to 9
	var ends [7]*os.File
	for i := range open {
		var err error
		if ends[i], open[i], err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
		defer ends[i].Close()
	}
	cmd := exec.Command("bash", "-c", `x=$(pyplug start "$1") && echo "<$x>" && pyplug call "$x" greet World`, "sh", greeter)
	if _, err := exec.LookPath("bash"); err != nil {
		cmd.Path, cmd.Args[0] = "/bin/sh", "sh"
	}
	cmd.Env = append(d.env, "PATH="+filepath.Dir(d.bin)+":"+os.Getenv("PATH"))
	cmd.ExtraFiles = open[:]
	out, err := cmd.Output()
	if want := "<greeter>\n\"Hello, World\"\n"; err != nil || string(out) != want {
		t.Fatalf("got %q, %v, want %q", out, err, want)
	}
	for i, end := range ends {
		open[i].Close()
		closed := make(chan error, 1)
		go func() { // ends with the pipe
			_, err := io.ReadAll(end)
			closed <- err
		}()
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(runnertest.WaitTimeout):
			t.Errorf("descriptor %d is still open", i+3)
			end.Close()
			<-closed
		}
	}
	state := d.state("greeter")
	for fd, want := range []string{"/dev/null", state.Log, state.Log} {
		if to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", state.PID, fd)); err != nil || to != want {
			t.Errorf("descriptor %d of the daemon is %s, %v, want %s", fd, to, err, want)
		}
	}
}

// TestStartOutput checks that the plugin runs even if its name cannot be printed. The error says
// so.
func TestStartOutput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		code int
		want string
	}{
		"closed":      {`pyplug start "$1" >&-`, 0, ""},
		"all closed":  {`pyplug start "$1" <&- >&- 2>&-`, 0, ""},
		"full":        {`pyplug start "$1" >/dev/full`, 1, "no space left on device\n\nhint: run `pyplug stop greeter` to stop greeter, which is running\n"},
		"full, JSON":  {`pyplug start --json "$1" >/dev/full`, 1, "hint: run `pyplug stop greeter` to stop greeter, which is running\n"},
		"reader gone": {`pyplug start "$1" | true`, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			d.stopped("greeter")
			cmd := exec.Command("sh", "-c", c.line, "sh", greeter)
			cmd.Env = append(d.env, "PATH="+filepath.Dir(d.bin)+":"+os.Getenv("PATH"))
			var errs strings.Builder
			cmd.Stderr = &errs
			_ = cmd.Run() // its exit code is checked
			if got := shellCode(cmd.ProcessState); got != c.code || !strings.Contains(errs.String(), c.want) {
				t.Errorf("exit code %d, want %d, and %q in %q", got, c.code, c.want, errs.String())
			}
			d.wants(`"Hello, World"`, "call", "greeter", "greet", "World")
		})
	}
}

// TestStartNotUTF8 checks that paths, flags and the plugin's own files need not be UTF-8.
func TestStartNotUTF8(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	dir := filepath.Join(t.TempDir(), "d\xfe")
	plugin, run := filepath.Join(dir, "u\xff.py"), filepath.Join(dir, "run")
	d.env = append(d.env, "PYPLUG_RUN_DIR="+run)
	d.stopped("--all")
	source := "import os, helper\ndef f():\n    return os.path.basename(os.getcwd()) + os.environ['X']\ndef bad():\n    raise ValueError(1)\n"
	for _, err := range []error{os.Mkdir(dir, 0o700), os.Mkdir(run, 0o700),
		os.WriteFile(plugin, []byte(source), 0o600), os.WriteFile(filepath.Join(dir, "helper.py"), nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	start := []string{"start", "--cwd", dir, "--env", "X=\xfd", plugin}
	d.wants("u", start...)
	d.wants("u", start...)
	out, errs, code := d.pyplug("call", "--raw", plugin, "f")
	if want := "d\xfe\xfd\n"; out != want || errs != "" || code != 0 {
		t.Errorf("call: got %q, %q, exit code %d, want %q", out, errs, code, want)
	}
	d.fails(1, `u\xff.py:5 in bad`+"\n    raise ValueError(1)\n", "call", plugin, "bad")
	out, _, _ = d.pyplug("status", "--json")
	for _, want := range []string{`d\udcfe/u\udcff.py"`, `d\udcfe/run/u.sock"`} {
		if strings.Count(out, want) != 1 {
			t.Errorf("status: got %s, want %s once", out, want)
		}
	}
	d.wants("", "stop", plugin)
	d.wants("", "status")
}

// TestStartTogether checks that concurrent starts of one plugin start one daemon, and all print its
// name.
func TestStartTogether(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 50} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			d.stopped("slow-import")
			log := filepath.Join(t.TempDir(), "log")
			d.env = append(d.env, "SLOW_IMPORT=0.5", "SLOW_IMPORT_LOG="+log)
			var work sync.WaitGroup
			for range n {
				work.Go(func() {
					out, errs, code := d.pyplug("start", "testdata/plugins/slow_import.py")
					if out != "slow-import\n" || errs != "" || code != 0 {
						t.Errorf("got %q, %q, exit code %d", out, errs, code)
					}
				})
			}
			work.Wait()
			if text, err := os.ReadFile(log); err != nil || strings.Count(string(text), "\n") != 1 {
				t.Errorf("it was imported by %q, %v, want by one", text, err)
			}
		})
	}
}

// TestStartSameNames checks that plugins with the same default name that are started concurrently
// get different names.
func TestStartSameNames(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	text, err := os.ReadFile(counter)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 8)
	var work sync.WaitGroup
	for i := range names {
		file := filepath.Join(t.TempDir(), "same.py")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		work.Go(func() {
			out, errs, code := d.pyplug("start", file)
			if names[i] = strings.TrimSpace(out); code != 0 {
				t.Errorf("exit code %d: %s", code, errs)
			}
		})
	}
	work.Wait()
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || !strings.HasPrefix(name, "same") {
			t.Errorf("names %q", names)
		}
		seen[name] = true
		d.wants("1", "call", name, "increment")
	}
	d.wants("", append([]string{"stop"}, names...)...)
}

// TestStartInterrupted checks that an interrupted start leaves nothing.
func TestStartInterrupted(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	marker := filepath.Join(t.TempDir(), "marker")
	d.env = append(d.env, "HANG_IMPORT_MARKER="+marker)
	cmd := d.command("start", "testdata/plugins/hang_import.py")
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "the import hangs", runnertest.Exists(marker))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its exit code is checked
	if got := shellCode(cmd.ProcessState); got != 130 || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("exit code %d, want 130\n%s", got, errs.String())
	}
	d.fails(9, "is not running", "status", "hang-import")
}

// TestStopWhileStarting checks that stop also ends a start in progress.
func TestStopWhileStarting(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	marker := filepath.Join(t.TempDir(), "marker")
	d.env = append(d.env, "HANG_IMPORT_MARKER="+marker)
	cmd := d.command("start", "testdata/plugins/hang_import.py")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "the import hangs", runnertest.Exists(marker))
	out, _, _ := d.pyplug("status", "hang-import")
	if !strings.Contains(out, "starting") {
		t.Errorf("its status is %q", out)
	}
	d.wants("", "stop", "hang-import")
	_ = cmd.Wait() // its exit code is checked
	if got := shellCode(cmd.ProcessState); got == 0 {
		t.Error("start succeeded")
	}
}

// TestStopAll checks that --all stops all background plugins.
func TestStopAll(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	d.stopped("greeter", "counter")
	d.wants("greeter", "start", greeter)
	d.wants("counter", "start", counter)
	d.wants(`{"schema":1,"stopped":["counter","greeter"]}`, "stop", "--all", "--json")
	d.wants(`{"schema":1,"plugins":[]}`, "status", "--json")
	d.wants("", "stop", "--all")
	out, errs, code := d.pyplug("status")
	if out != "" || errs != "note: no background plugins are running\n" || code != 0 {
		t.Errorf("status says %q, %q, exit code %d", out, errs, code)
	}
}

// TestStartHelp checks that the command line for Terraform in the help works.
func TestStartHelp(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	d.stopped("greeter")
	help, _, _ := d.pyplug("start", "--help")
	_, rest, ok := strings.Cut(help, "export TF_REATTACH_PROVIDERS=")
	line, _, _ := strings.Cut(rest, "\n")
	if !ok {
		t.Fatalf("help has no such line:\n%s", help)
	}
	line = "x=" + strings.ReplaceAll(line, "provider.py", greeter) + ` && echo "$x"`
	cmd := exec.CommandContext(d.ctx, "sh", "-c", line)
	cmd.Env = append(d.env, "PATH="+filepath.Dir(d.bin)+":"+os.Getenv("PATH"))
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), `{"schema":1,"name":"greeter","socket":"`) {
		t.Errorf("%s: got %q, %v", line, out, err)
	}
}

// TestStartSecret checks that the flags of start are not on a command line, which every user can
// read.
func TestStartSecret(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	d.stopped("inside")
	d.wants("inside", "start", "--env", "SECRET=gefunden", "testdata/plugins/inside.py")
	d.wants("gefunden", "call", "--raw", "inside", "env", "SECRET")
	for _, pid := range []int{d.state("inside").PID, d.worker("inside")} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || strings.Contains(string(text), "gefunden") {
			t.Errorf("the command line is %q, %v", text, err)
		}
	}
	d.wants("null", "call", "inside", "env", "PYPLUG_DAEMON_WORDS")
}

// TestStartWhileStopping checks that start and call --auto-start wait for the end of a plugin that
// is stopping, and then succeed. A call without --auto-start fails at once.
func TestStartWhileStopping(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	dir := t.TempDir()
	file, marker, until := filepath.Join(dir, "gate.py"), filepath.Join(dir, "marker"), filepath.Join(dir, "until")
	touch := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	touch(file, "import os, time\ndef wait(marker, until):\n    open(marker, 'w').close()\n"+
		"    while not os.path.exists(until): time.sleep(0.005)\ndef pid(): return os.getpid()\n")
	d.stopped("gate")
	d.wants("gate", "start", file)
	call, stop := d.command("call", "gate", "wait", marker, until), d.command("stop", "gate")
	if err := call.Start(); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "it waits", runnertest.Exists(marker))
	if err := stop.Start(); err != nil {
		t.Fatal(err)
	}
	runnertest.Until(t, "it is being stopped", func() bool {
		out, _, _ := d.pyplug("status", "gate")
		return strings.Contains(out, "stopping")
	})
	d.fails(9, "gate is stopping", "call", "gate", "pid") // with fastcall
	d.fails(9, "gate is stopping", "call", "--verbose", "gate", "pid")
	var work sync.WaitGroup
	for _, words := range [][]string{{"start", file}, {"call", "--auto-start", file, "pid"}} {
		work.Go(func() {
			out, errs, code := d.pyplug(words...)
			if code != 0 || words[0] == "start" && out != "gate\n" {
				t.Errorf("%q: got %q, exit code %d\n%s", words, out, code, errs)
			}
		})
	}
	touch(until, "")
	work.Wait()
	_ = call.Wait() // its result does not matter
	if err := stop.Wait(); err != nil {
		t.Errorf("stop: %v", err)
	}
}
