//go:build linux

package commands_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// hangingUp is a plugin that records each import. The first import sends SIGHUP to pyplug.
const hangingUp = `
import os, signal
first = not os.path.exists(%[1]q)
if first:
    os.kill(os.getppid(), signal.SIGHUP)
with open(%[1]q, "a") as file:
    file.write("import\n")
def begin():
    if first:
        os.kill(os.getppid(), signal.SIGHUP)
def answer(): return 42
if first:
    os.kill(os.getppid(), signal.SIGHUP)
%[2]s
`

// TestKeepHangup checks that a SIGHUP at any moment of the first start waits until the plugin is
// ready, and then restarts it.
func TestKeepHangup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rest    string // the rest of the plugin's source
		line    string // the shell command that starts pyplug
		code    int
		imports int
	}{
		"a service":              {"", `exec "$@"`, 0, 2},
		"a start that fails":     {"raise ValueError('no room')", `exec "$@"`, 5, 1},
		"started to ignore it":   {"", `trap "" HUP; exec "$@"`, 0, 1},
		"before the interpreter": {"", `exec "$@" --python ./python`, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDaemons(t)
			dir := t.TempDir()
			imports := filepath.Join(dir, "imports")
			wrapper := fmt.Sprintf("#!/bin/sh\n[ -e %q ] || kill -HUP $PPID\nexec %q \"$@\"\n", imports, runnertest.Python(t))
			for file, text := range map[string]string{
				"hanging.py":  fmt.Sprintf(hangingUp, imports, c.rest),
				"pyplug.toml": "entry = 'hanging.py'\nbootstrap = [{hook = 'begin'}]\n",
				"python":      wrapper,
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			k := &kept{Cmd: exec.CommandContext(d.ctx, "setsid", "--wait", "sh", "-c", c.line, "sh", d.bin, "serve", "--preload", "off", ".")}
			k.Env, k.Dir, k.Stderr = d.env, dir, &k.errs
			k.lines = bufio.NewScanner(reading(t, k.Cmd))
			if c.code == 0 {
				for range c.imports {
					k.next(t)
				}
				d.wants("42", "call", "hanging", "answer")
				d.wants("", "stop", "hanging")
			}
			k.ends(t, c.code)
			text, _ := os.ReadFile(imports)
			if got := strings.Count(string(text), "import"); got != c.imports && !(got > 2 && c.imports == 2) { // the last signal may come late
				t.Errorf("it was imported %d times, want %d\n%s", got, c.imports, &k.errs)
			}
		})
	}
}

// closingTerminal runs a program on a terminal, closes the terminal when the plugin is ready, and
// prints the exit code.
const closingTerminal = `
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
out = b""
while b'"socket"' not in out:
    out += os.read(fd, 1000)
os.close(fd)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

// TestKeepTerminal checks that serve ends when its terminal is closed.
func TestKeepTerminal(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	cmd := exec.CommandContext(d.ctx, runnertest.Python(t), "-c", closingTerminal, d.bin, "serve", counter)
	cmd.Env = d.env
	if out, err := cmd.Output(); err != nil || string(out) != "0\n" {
		t.Errorf("got %q, %v", out, err)
	}
}
