//go:build linux

package commands_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDaemonDirectories checks that a run directory that cannot contain sockets, or that another
// user could change, is an error.
func TestDaemonDirectories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"a link":       {func(dir string) error { return os.Symlink(t.TempDir(), dir) }, "is a link"},
		"open to all":  {func(dir string) error { return os.Mkdir(dir, 0o755) }, "expected 0700"},
		"a file":       {func(dir string) error { return os.WriteFile(dir, nil, 0o600) }, "is not a directory"},
		"another's":    {func(dir string) error { return chown(dir, 12345) }, "belongs to user 12345"},
		"not writable": {func(dir string) error { return os.Mkdir(dir, 0o500) }, "expected 0700"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
		t.Parallel()
		d := newDaemons(t)
		d.fails(2, "too long for the path of a socket", "start", "--name", strings.Repeat("x", 100), greeter)
		d.fails(2, "hint: choose a shorter name with --name", "start", "--name", strings.Repeat("x", 100), greeter)
	})
	t.Run("a long directory", func(t *testing.T) {
		t.Parallel()
		d := newDaemons(t)
		d.env = append(d.env, "PYPLUG_RUN_DIR="+filepath.Join(d.run, strings.Repeat("x", 100)))
		d.fails(2, "hint: set PYPLUG_RUN_DIR to a shorter path", "start", greeter)
	})
	t.Run("a relative directory", func(t *testing.T) {
		t.Parallel()
		d := newDaemons(t)
		d.env = append(d.env, "PYPLUG_RUN_DIR=here")
		for _, words := range [][]string{{"start", greeter}, {"call", "greeter", "greet", "World"}, {"status"}, {"stop", "--all"}, {"logs", "greeter"}} {
			d.fails(2, "run directory here is not an absolute path\n\nhint: set PYPLUG_RUN_DIR to an absolute path\n", words...)
		}
	})
	t.Run("what to do", func(t *testing.T) {
		t.Parallel()
		d := newDaemons(t)
		if err := os.Mkdir(d.run, 0o755); err != nil {
			t.Fatal(err)
		}
		d.fails(9, "hint: run chmod 700 "+d.run+", or set PYPLUG_RUN_DIR to another directory\n", "start", greeter)
	})
	t.Run("a deep directory", func(t *testing.T) {
		t.Parallel()
		d := newDaemons(t)
		parent := filepath.Join(d.run, "none")
		d.env = append(d.env, "PYPLUG_RUN_DIR="+filepath.Join(parent, "pyplug"))
		d.fails(9, "cannot be created: there is no "+parent+"\n", "start", greeter)
		d.fails(9, "hint: set PYPLUG_RUN_DIR to another directory", "start", greeter)
	})
}

func chown(dir string, uid int) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Chown(dir, uid, uid)
}

// TestDaemonLogFull checks that a full disk loses lines of the log, but no calls.
func TestDaemonLogFull(t *testing.T) {
	t.Parallel()
	d := newDaemons(t)
	d.stopped("prints")
	dir := d.run
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const size = 1 << 20
	log := filepath.Join(dir, "prints.log")
	if err := os.WriteFile(log, bytes.Repeat([]byte("12345678901234\n\n"), size/16), 0o600); err != nil {
		t.Fatal(err)
	}
	// The limit of a file's size, in blocks of 512 bytes, is the size of the existing log. All other
	// files are shorter.
	limited := fmt.Sprintf(`ulimit -S -f %d; exec "$@"`, size/512)
	cmd := exec.CommandContext(d.ctx, "sh", "-c", limited, "sh", d.bin, "start", "testdata/plugins/prints.py")
	cmd.Env = d.env
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "prints\n" {
		t.Fatalf("start: %q, %v", out, err)
	}
	prints := func() {
		t.Helper()
		d.wants(`"by print"`, "call", "prints", "by_print", "hello")
	}
	for range 3 {
		prints()
	}
	if info, err := os.Stat(log); err != nil || info.Size() != size {
		t.Fatalf("the log has %d bytes, want %d, or it was not full: %v", info.Size(), size, err)
	}
	pid := d.state("prints").PID
	var limit unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit)
	if limit.Cur = limit.Max; err == nil {
		err = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	prints()
	if out, _, _ := d.pyplug("logs", "-n", "2", "prints"); !strings.Contains(out, "hello") {
		t.Errorf("the log ends in %q, want what was printed then", out)
	}
}
