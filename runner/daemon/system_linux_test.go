package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestStranger checks that a connection of another user is rejected, even if the file modes allow
// it.
func TestStranger(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	dir := nothingLeft(t)
	d := start(t, newFake(), Options{})
	for _, path := range []string{filepath.Dir(dir), dir, string(d.Identity().Socket)} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	read := make(chan error, 1)
	go func() { // the locked thread ends with the goroutine, so that no other one runs as the stranger
		runtime.LockOSThread()
		read <- func() error {
			if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, 12345, 12345, 12345); errno != 0 {
				return nil
			}
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer func() { _ = syscall.Close(fd) }()
			if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: string(d.Identity().Socket)}); err != nil {
				return err
			}
			_, _ = syscall.Write(fd, []byte("POST /stop HTTP/1.1\r\nHost: p\r\n\r\n"))
			if n, err := syscall.Read(fd, make([]byte, 1)); n > 0 {
				return fmt.Errorf("it was answered: %v", err)
			}
			return nil
		}()
	}()
	if err := <-read; err != nil {
		t.Error(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t).Status(context.Background()); err != nil {
		t.Error(err)
	}
	if got := logText(t); !strings.Contains(got, "rejected a connection: it belongs to user 12345") {
		t.Errorf("the log is %q", got)
	}
}

func logText(t *testing.T) string {
	t.Helper()
	return strings.Join(texts(read(t, -1)), "\n")
}

// TestDiskFull checks that on a full disk a start fails with that error, and leaves nothing.
func TestDiskFull(t *testing.T) {
	dir := nothingLeft(t)
	if err := makeDir(dir); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8k,mode=700"); err != nil {
		t.Skip("no file system of our own: ", err)
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	fill := filepath.Join(dir, "fill")
	if err := os.WriteFile(fill, make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Skip("it does not fill: ", err)
	}
	_, err := Listen(Identity{Name: "p", Entry: "/x/p.py"}, Options{})
	if !errors.Is(err, syscall.ENOSPC) || kindOf(t, err) != hook.Unavailable {
		t.Errorf("got %v, want that the disk is full", err)
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("left %v", got)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	d := start(t, newFake(), Options{})
	_ = os.WriteFile(fill, make([]byte, 1<<20), 0o600)
	d.Log().Add(Line{Stream: "stderr", Text: strings.Repeat("x", 10_000)})
	if _, err := open(t).Status(context.Background()); err != nil {
		t.Errorf("with a log that is full: %v", err)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	d.Log().Add(Line{Stream: "stderr", Text: "there is room again"})
	if got := logText(t); !strings.HasSuffix(got, "there is room again") {
		t.Errorf("the log is %q", got)
	}
	d.stop()
}

// TestRunDirNoPattern checks that the path of the run directory is not read as a pattern.
func TestRunDirNoPattern(t *testing.T) {
	base := filepath.Dir(runDir(t))
	t.Setenv("PYPLUG_RUN_DIR", filepath.Join(base, "[a-z]*?"))
	other := place{filepath.Join(base, "other"), "dead"}
	if err := os.Mkdir(other.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{other.state(), other.socket(), other.log()} {
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start(t, newFake(), Options{})
	if live, err := List(t.Context()); len(live) != 1 || err != nil {
		t.Errorf("live %v, %v", live, err)
	}
	if ran, err := Stop(t.Context(), other.name, StopOptions{}); ran || err != nil {
		t.Errorf("stop: %v, %v", ran, err)
	}
	if left, _ := os.ReadDir(other.dir); len(left) != 3 {
		t.Errorf("of another directory only %v is left", left)
	}
}
