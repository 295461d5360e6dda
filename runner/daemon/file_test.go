//go:build unix

package daemon

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// detours are what may have the place of a file, by what it is called.
var detours = map[string]func(path string) error{
	"a link": func(path string) error {
		return errors.Join(os.WriteFile(path+".elsewhere", []byte("theirs\n"), 0o600), os.Symlink(path+".elsewhere", path))
	},
	"a link to nothing": func(path string) error { return os.Symlink(path+".nothing", path) },
	"a named pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"a directory":       func(path string) error { return os.Mkdir(path, 0o700) },
	"a socket": func(path string) error {
		l, err := net.Listen("unix", path)
		if err == nil {
			l.(*net.UnixListener).SetUnlinkOnClose(false)
			err = l.Close()
		}
		return err
	},
}

// within fails the test when do takes long: a named pipe is opened when somebody opens
// its other end, which may be never.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }() // ends with do, or with the test binary
	select {
	case <-done:
	case <-time.After(runnertest.WaitTimeout):
		t.Fatalf("%s: it waits", what)
	}
}

// isDetour fails the test unless an error names what has a file's place.
func isDetour(t *testing.T, what string, err error, path, kind string) {
	t.Helper()
	kind, _, _ = strings.Cut(kind, " to ")
	wrong := (*fileError)(nil)
	if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), path+" is "+kind+", ") || kindOf(t, err) != hook.Unavailable {
		t.Errorf("%s: %v, want that %s is %s", what, err, path, kind)
	}
}

// What has the place of a file, and is none, is told: nobody waits for it, nothing is
// written where it leads to, and nothing is left.
func TestDetours(t *testing.T) {
	for kind, make := range detours {
		for _, end := range []string{".log", ".lock"} {
			t.Run(kind+" "+end, func(t *testing.T) {
				dir := nothingLeft(t)
				if err := makeDir(dir); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, "p"+end)
				if err := make(path); err != nil {
					t.Fatal(err)
				}
				before := files(t, dir)
				within(t, "listen", func() {
					_, err := Listen(Identity{Name: "p"}, Options{})
					isDetour(t, "listen", err, path, kind)
				})
				if got := files(t, dir); strings.Join(got, " ") != strings.Join(before, " ") {
					t.Errorf("there are %v, want %v", got, before)
				}
				if text, err := os.ReadFile(path + ".elsewhere"); err == nil && string(text) != "theirs\n" {
					t.Errorf("there is %q in the file that it leads to", text)
				}
				within(t, "list", func() { _, _ = List(context.Background()) })
				within(t, "open", func() {
					if _, err := Open(context.Background(), "p"); !Is(err, NotRunning) {
						t.Errorf("open: %v, want that nothing runs", err)
					}
				})
				if end == ".log" {
					within(t, "logs", func() {
						isDetour(t, "logs", ReadLog(context.Background(), "p", -1, false, func(Line) error { return nil }), path, kind)
					})
				}
				within(t, "stop", func() { _, _ = Stop(context.Background(), "p") })
			})
		}
	}
}

// A state that cannot be read is asked for, and the older log is left out.
func TestDetoursOfLess(t *testing.T) {
	for _, kind := range []string{"a link", "a named pipe", "a socket"} {
		t.Run(kind, func(t *testing.T) {
			dir := nothingLeft(t)
			d := start(t, newFake(), Options{})
			d.Log().Add(Line{Stream: "stderr", Text: "hello"})
			if err := os.Remove(filepath.Join(dir, "p.json")); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(detours[kind](filepath.Join(dir, "p.json")), detours[kind](filepath.Join(dir, "p.log.1"))); err != nil {
				t.Fatal(err)
			}
			within(t, "open", func() {
				if c := open(t); c.Identity().PID != os.Getpid() {
					t.Errorf("it is %+v", c.Identity())
				}
			})
			within(t, "logs", func() {
				if got := texts(read(t, -1)); len(got) != 1 || got[0] != "hello" {
					t.Errorf("the log is %q", got)
				}
			})
		})
	}
}
