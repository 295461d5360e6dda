//go:build unix

package wire

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestRunDirs(t *testing.T) {
	t.Setenv("PYPLUG_RUN_DIR", "")
	own := fmt.Sprintf("/tmp/pyplug-%d", os.Geteuid())
	base := t.TempDir()
	long := filepath.Join(base, strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for variable, want := range map[string][]string{
		"": {own}, "relative": {own}, ".": {own}, base + "/none": {own}, long: {own},
		base: {base + "/pyplug", own}, base + "//": {base + "/pyplug", own},
	} {
		t.Setenv("XDG_RUNTIME_DIR", variable)
		if got := RunDirs(); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, want %q", variable, got, want)
		}
	}
}

// TestRunDirNamed holds that a directory that was named is the only one.
func TestRunDirNamed(t *testing.T) {
	t.Setenv("PYPLUG_RUN_DIR", "/run/ci")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if got := RunDirs(); !reflect.DeepEqual(got, []string{"/run/ci"}) {
		t.Errorf("%q", got)
	}
	t.Chdir(t.TempDir())
	wrong := (*DirError)(nil)
	if err := MakeDir("run"); !errors.As(err, &wrong) || !errors.Is(err, ErrRelative) {
		t.Errorf("a relative one: %v", err)
	}
}

// TestRunDirOfAnother holds that root leaves a user's directory alone.
func TestRunDirOfAnother(t *testing.T) {
	base := t.TempDir()
	if err := os.Chown(base, 12345, -1); err != nil {
		t.Skip("not root: ", err)
	}
	t.Setenv("PYPLUG_RUN_DIR", "")
	t.Setenv("XDG_RUNTIME_DIR", base)
	if got := RunDirs(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestMakeDir(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o777))
	dir := filepath.Join(t.TempDir(), "pyplug")
	for range 2 {
		if err := MakeDir(dir); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, end := range []string{"/none/pyplug", "/none//pyplug//"} {
		want := "run directory " + dir + end + " cannot be made: there is no " + dir + "/none"
		if err := MakeDir(dir + end); !errors.Is(err, os.ErrNotExist) || err.Error() != want {
			t.Errorf("in no directory: %v, want %s", err, want)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("link", link); err != nil {
		t.Fatal(err)
	}
	want := "run directory " + link + "/pyplug cannot be made: " + syscall.ELOOP.Error()
	if err := MakeDir(link + "/pyplug"); err == nil || err.Error() != want {
		t.Errorf("in what is none: %v, want %s", err, want)
	}
}

func TestCheckDir(t *testing.T) {
	base := t.TempDir()
	dir := func(name string, mode os.FileMode) string {
		path := filepath.Join(base, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fine, link, file := dir("fine", 0o700), filepath.Join(base, "link"), filepath.Join(base, "file")
	if err := os.Symlink(fine, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		fine: "", link: "is a link, want the directory itself", file: "is not a directory",
		dir("seen", 0o755): "has mode 0755, not 0700", dir("group", 0o770): "has mode 0770, not 0700",
		dir("read-only", 0o500): "has mode 0500, not 0700",
	} {
		err := CheckDir(path)
		var problem *DirError
		if want == "" && err != nil || want != "" && (!errors.As(err, &problem) || problem.Dir != path || problem.Problem != want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if err := CheckDir(filepath.Join(base, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	if err := os.Chown(fine, 12345, -1); err != nil {
		t.Skip("not root: ", err)
	}
	if err := CheckDir(fine); err == nil || !strings.Contains(err.Error(), "belongs to user 12345, not to ") {
		t.Errorf("another's: %v", err)
	}
}
