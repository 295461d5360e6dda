//go:build unix

package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestExistingDirs checks that a run directory of another user, for example in /tmp, does no harm
// if another run directory can be used.
func TestExistingDirs(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"a file":  func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"a link":  func(dir string) error { return os.Symlink(t.TempDir(), dir) },
		"nowhere": func(dir string) error { return os.Symlink("/nowhere", dir) },
		"another's": func(dir string) error {
			if os.Geteuid() != 0 {
				return errors.ErrUnsupported // only root can give a directory away
			}
			return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 12345, 12345))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bad, good, none := filepath.Join(t.TempDir(), "bad"), t.TempDir(), filepath.Join(t.TempDir(), "none")
			if err := errors.Join(make(bad), os.Chmod(good, 0o700)); errors.Is(err, errors.ErrUnsupported) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			for _, dirs := range [][]string{{good, bad}, {bad, good}, {none, bad}} {
				want := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return dir != good })
				if there, _, err := existing(dirs); err != nil || !slices.Equal(there, want) {
					t.Errorf("%v: got %v, %v, want %v", dirs, there, err, want)
				}
			}
			there, _, err := existing([]string{bad})
			if len(there) > 0 || err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), bad) {
				t.Errorf("the only one: %v, %v", there, err)
			}
			t.Setenv("PYPLUG_RUN_DIR", bad)
			if s, err := Listen(Identity{Name: "p", Entry: "/x/p.py"}, Options{}); err == nil {
				s.Fail(errors.New("enough"))
				t.Error("it runs in a directory that is not ours")
			}
		})
	}
}

// TestUnusableDir checks that a directory that exists but cannot be used is an error, even if there
// is another one.
func TestUnusableDir(t *testing.T) {
	t.Setenv("PYPLUG_RUN_DIR", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := RunDirs()[0]
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	id := Identity{Name: "in-no-directory", Entry: "/x/p.py"}
	if s, err := Listen(id, Options{}); err == nil {
		s.Fail(errors.New("enough"))
		t.Error("it runs in " + s.Identity().Socket)
	} else if kindOf(t, err) != hook.Unavailable || !strings.HasSuffix(err.Error(), "has mode 0755, expected 0700") {
		t.Error(err)
	}
}

// TestStateIsLink checks that a link in the place of the state file is an error.
func TestStateIsLink(t *testing.T) {
	dir := runDir(t)
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Symlink("target", filepath.Join(dir, "p.json"))); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { _, err := Listen(Identity{Name: "p"}, Options{}); over <- err }()
	select {
	case err := <-over:
		if kindOf(t, err) != hook.Unavailable {
			t.Error(err)
		}
	case <-time.After(runnertest.WaitTimeout):
		t.Fatal("it does not end")
	}
}

// wantPrivate checks that only this user can read and write a file.
func wantPrivate(t *testing.T, path string) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&^0o100 != 0o600 {
		t.Errorf("%s: %v, %v", path, info, err)
	}
}
