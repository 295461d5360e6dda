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
	"time"

	"golang.org/x/sys/unix"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/wire"
)

// A connection of another user is refused, also where the files would let it in.
func TestStranger(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	dir := nothingLeft(t)
	d := start(t, newFake(), Options{})
	for _, path := range []string{filepath.Dir(dir), dir, d.Identity().Socket} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	read := make(chan error, 1)
	go func() { // its thread ends with it, so that nobody else is the stranger
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
			if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: d.Identity().Socket}); err != nil {
				return err
			}
			_, _ = syscall.Write(fd, append(hail(), wire.Append(nil, wire.Message, 1, []byte(`{"do":"stop"}`))...))
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
	if got := logText(t); !strings.Contains(got, "refused a connection: it is of user 12345") {
		t.Errorf("the log is %q", got)
	}
}

// A daemon whose socket is removed has another one before who calls it gives up, and
// nobody has to come for that; where its directory is removed, it ends.
func TestSocketRemoved(t *testing.T) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		t.Skip("the user has no inotify instance left:", err)
	}
	_ = unix.Close(fd)
	dir := nothingLeft(t)
	d := start(t, newFake(), Options{})
	again := filepath.Join(dir, "p.sock")
	for _, remove := range []func(string) error{os.Remove, func(path string) error { return os.Rename(path, path+".away") }, os.Remove} {
		if err := remove(again); err != nil {
			t.Fatal(err)
		}
		if took := runnertest.Until(t, "it is there again", runnertest.Exists(again)); took >= guardEvery/2 {
			t.Errorf("it took %s", took)
		}
		open(t)
	}
	if err := os.Remove(again); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t).Status(context.Background()); err != nil {
		t.Errorf("while it is not there: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	<-d.over
	if took := time.Since(began); took >= guardEvery/2 {
		t.Errorf("it ended after %s", took)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory is there again")
	}
}

func logText(t *testing.T) string {
	t.Helper()
	return strings.Join(texts(read(t, -1)), "\n")
}

// Where the disk is full, a start fails, says so and leaves nothing.
func TestDiskFull(t *testing.T) {
	dir := nothingLeft(t)
	if err := wire.MakeDir(dir); err != nil {
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
	if got := logText(t); !strings.HasSuffix(got, "1 lines could not be written\nthere is room again") {
		t.Errorf("the log is %q", got)
	}
	d.stop()
}
