package daemon

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExistingDirs checks that a run directory of another user, for example in /tmp, does no harm
// if another run directory can be used.
func TestExistingDirs(t *testing.T) {
	if !supported {
		t.Skip("there are no background plugins here")
	}
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
