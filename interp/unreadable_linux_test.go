package interp

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// asNobody calls do as a user to whom permissions apply, even if the tests run as root. Linux lets
// each thread choose the user who opens files.
func asNobody(t *testing.T, do func()) {
	if os.Getuid() != 0 {
		do()
		return
	}
	closed := filepath.Join(t.TempDir(), "closed")
	check(t, os.WriteFile(closed, nil, 0))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	check(t, syscall.Setfsuid(65534))
	defer func() { check(t, syscall.Setfsuid(0)) }()
	if _, err := os.ReadFile(closed); err == nil {
		t.Skip("permissions do not apply here")
	}
	do()
}

// TestUnreadable checks that a path without permission may be the plugin's environment.
func TestUnreadable(t *testing.T) {
	opt := base("opt")
	own := lines(opt, venv("plug/.venv", "opt", "3.12.1"))
	const fromPath = "opt/bin/python3 3.12.4 PATH"
	for _, c := range []struct {
		row
		path string
		mode os.FileMode
	}{
		{row{findCase{name: "the plugin's environment", tree: own}, Unreadable, ""}, "plug/.venv", 0},
		{row{findCase{name: "its pyvenv.cfg, without which Python would run as its base", tree: own}, Unreadable, ""}, "plug/.venv/pyvenv.cfg", 0},
		{row{findCase{name: "another's pyvenv.cfg on PATH", tree: lines(opt, venv("a", "opt", "3.12")), want: fromPath}, Unreadable, ""}, "a/pyvenv.cfg", 0},
		{row{findCase{name: "its programs", tree: own}, Unreadable, ""}, "plug/.venv/bin", 0},
		{row{findCase{name: "the plugin's directory", tree: own}, Unreadable, ""}, "plug", 0},
		{row{findCase{name: "the plugin's directory cannot be listed", tree: opt, want: fromPath}, Unreadable, ""}, "plug", 0o111},
		{row{findCase{name: "the root of the project cannot be listed", tree: lines(opt, []string{"f pyproject.toml x"}), want: fromPath}, Unreadable, ""}, ".", 0o111},
		{row{findCase{name: "cannot be listed, with an environment", tree: own, want: "plug/.venv/bin/python 3.12.4 .venv next to the plugin"}, "", ""}, "plug", 0o111},
		{row{findCase{name: "a pin", tree: lines(opt, []string{"f plug/.python-version 3.11"})}, Unreadable, ""}, "plug/.python-version", 0},
		{row{findCase{name: "an environment that is activated", tree: lines(opt, venv("e", "opt", "3.12")), environ: []string{"VIRTUAL_ENV=$ROOT/e"}, want: fromPath}, Unreadable, ""}, "e", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := c.make(t)
			check(t, os.Chmod(filepath.Dir(root), 0o755))
			path := filepath.Join(root, c.path)
			info, err := os.Stat(path)
			check(t, err)
			check(t, os.Chmod(path, c.mode))
			c.environ = append(c.environ, "PATH=$ROOT/a/bin:$ROOT/opt/bin")
			request := c.request(root)
			var found Interpreter
			var code Code
			asNobody(t, func() { found, code, err = findCode(context.Background(), request) })
			check(t, os.Chmod(path, info.Mode()))
			c.compare(t, root, found, code, err)
		})
	}
}
