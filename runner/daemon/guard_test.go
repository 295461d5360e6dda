//go:build unix

package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
	"github.com/pyplug/pyplug/runner/wire"
)

// remove removes files of a directory.
func remove(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

var allFiles = []string{"p.json", "p.lock", "p.log", "p.sock"}

// Who clears /tmp takes nothing from a daemon: nobody takes the name of one whose
// socket answers, and what was removed is there again.
func TestFilesRemoved(t *testing.T) {
	for _, gone := range [][]string{
		{"p.lock"}, {"p.sock"}, {"p.lock", "p.json", "p.log"}, {"p.lock", "p.sock"}, allFiles,
	} {
		t.Run(strings.Join(gone, " "), func(t *testing.T) {
			dir := nothingLeft(t)
			d := start(t, newFake(), Options{})
			remove(t, dir, gone...)
			if !slices.Contains(gone, "p.sock") { // which nobody is without
				if entries, err := list(dir); err != nil || len(entries) > 1 {
					t.Errorf("listed %+v, %v", entries, err)
				}
				var taken *TakenError
				if _, err := Listen(Identity{Name: "p"}, Options{}); !errors.As(err, &taken) {
					t.Errorf("another daemon: %v, want that the name is taken", err)
				}
				if c := open(t); c.Identity().PID != os.Getpid() {
					t.Errorf("it is %+v", c.Identity())
				}
			}
			wake(d.came)
			runnertest.Until(t, "the files are there again", func() bool { return slices.Equal(files(t, dir), allFiles) })
			if _, err := open(t).Call(context.Background(), hook.Call{Hook: "echo", Args: hook.Args{JSON: []byte("[]")}}); err != nil {
				t.Error(err)
			}
			if entries, err := list(dir); err != nil || len(entries) != 1 {
				t.Errorf("listed %+v, %v", entries, err)
			}
			d.stop()
			if got := files(t, dir); len(got) != 0 {
				t.Errorf("left %v", got)
			}
		})
	}
}

// A daemon whose name another one has got ends, and leaves that one's files alone; so
// ends one whose directory was removed.
func TestNameLost(t *testing.T) {
	dir := nothingLeft(t)
	first := start(t, newFake(), Options{})
	remove(t, dir, allFiles...)
	second := start(t, newFake(), Options{})
	wake(first.came)
	<-first.over
	if got := files(t, dir); !slices.Equal(got, allFiles) {
		t.Errorf("the second has %v", got)
	}
	if _, err := open(t).Status(context.Background()); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	wake(second.came)
	<-second.over
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory is there again")
	}
}

// A name that is held by one who does not answer is neither free nor waited for for
// ever; stop ends who has it.
func TestUnanswered(t *testing.T) {
	dir := nothingLeft(t)
	id, err := spawned(t, "good")
	if err != nil {
		t.Fatal(err)
	}
	suspend(t, id.PID)
	remove(t, dir, "p.sock")
	var mute *UnansweredError
	if _, err := Open(context.Background(), "p"); !errors.As(err, &mute) || mute.By.PID != id.PID || kindOf(t, err) != hook.Unavailable {
		t.Errorf("open: %v", err)
	}
	if _, err := Spawn(context.Background(), SpawnOptions{Name: "p", Args: []string{"__daemon", "good"}}); !errors.As(err, &mute) {
		t.Errorf("start: %v", err)
	}
	if entries, err := list(dir); err != nil || len(entries) != 1 {
		t.Errorf("listed %+v, %v", entries, err)
	}
	if ran, err := Stop(context.Background(), "p"); !ran || err != nil {
		t.Errorf("stop: %v, %v", ran, err)
	}
	gone(t, id.PID)
	if got := files(t, dir); !slices.Equal(got, []string{"p.log"}) {
		t.Errorf("left %v, want the log", got)
	}
	if ran, err := Stop(context.Background(), "p"); ran || err != nil {
		t.Errorf("stop again: %v, %v", ran, err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

// One that has so many connections waiting that no more are taken is not gone.
func TestBusy(t *testing.T) {
	dir := nothingLeft(t)
	if err := wire.MakeDir(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "p.sock")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 1)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		c, err := net.Dial("unix", path)
		if err != nil {
			break
		}
		defer func() { _ = c.Close() }()
	}
	if _, err := net.Dial("unix", path); !busy(err) {
		t.Skip("no such error here: ", err)
	}
	var mute *UnansweredError
	if _, err := Open(context.Background(), "p"); !errors.As(err, &mute) {
		t.Errorf("open: %v", err)
	}
	if entries, _ := list(dir); len(entries) > 1 || !slices.Contains(files(t, dir), "p.sock") {
		t.Errorf("listed %+v, left %v", entries, files(t, dir))
	}
}
