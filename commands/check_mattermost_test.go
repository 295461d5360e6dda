//go:build linux

package commands_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// base prints the base Python of a venv, its version, and where grpcio is.
const base = `
import json, os, sys, grpc
print(json.dumps({
    "Python": os.path.realpath(getattr(sys, "_base_executable", sys.executable)),
    "Version": "%d.%d.%d" % sys.version_info[:3],
    "Minor": "python%d.%d" % sys.version_info[:2],
    "GRPC": os.path.dirname(os.path.dirname(grpc.__file__)),
}))`

// mattermost copies the plugin of testdata/plugins/mattermost and makes a venv in its directory, by
// hand and without a network, that has its SDK and grpcio.
func mattermost(t *testing.T) (dir, python string) {
	t.Helper()
	outside := runnertest.GRPCIO(t)
	out, err := exec.Command(outside, "-B", "-c", base).Output()
	if err != nil {
		t.Fatal(err)
	}
	var b struct{ Python, Version, Minor, GRPC string }
	if err := json.Unmarshal(out, &b); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root := t.TempDir()
	dir = filepath.Join(root, "notes")
	if err := os.CopyFS(dir, os.DirFS("testdata/plugins/mattermost")); err != nil {
		t.Fatal(err)
	}
	sdk := filepath.Join(root, "sdk") // not in the plugin's directory
	if err := os.Rename(filepath.Join(dir, "sdk"), sdk); err != nil {
		t.Fatal(err)
	}
	venv := filepath.Join(dir, "venv")
	packages := filepath.Join(venv, "lib", b.Minor, "site-packages")
	for _, made := range []string{filepath.Join(venv, "bin"), packages} {
		if err := os.MkdirAll(made, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	python = filepath.Join(venv, "bin", "python3")
	if err := os.Symlink(b.Python, python); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(venv, "pyvenv.cfg"): "home = " + filepath.Dir(b.Python) + "\ninclude-system-site-packages = false\nversion = " + b.Version + "\n",
		// pip writes such a file for a package that it installs as editable.
		filepath.Join(packages, "sdk.pth"): sdk + "\n" + b.GRPC + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, python
}

// TestCheckMattermost checks that a plugin for Mattermost is detected by its manifest, or by its
// SDK, and is checked in its own venv with Mattermost's cookie.
func TestCheckMattermost(t *testing.T) {
	t.Parallel()
	dir, python := mattermost(t)
	env := []string{"PYPLUG_PYTHON=", "PYTHONDONTWRITEBYTECODE=1"}

	c := checkPlugin(t, env, "--call", "ExecuteCommand text=buy", dir)
	c.holds(t, 0, "stop warning no-controller")
	if got := c.told("note"); len(got) > 0 {
		t.Errorf("notes %q", got)
	}
	if c.Transport != "grpc" || c.stage("interpreter").Details["path"] != python {
		t.Errorf("transport %q, python %v; want grpc and %s", c.Transport, c.stage("interpreter").Details["path"], python)
	}
	if st := c.stage("plugin"); !strings.Contains(st.Message, "plugin.json") || st.Details["id"] != "com-example-notes" {
		t.Errorf("plugin: %+v", st)
	}
	for stage, words := range map[string]string{
		"health": `"plugin" is SERVING`,
		"hooks":  "3 hooks: ", "cookie": "it refuses to start without it: exit code 1",
	} {
		if got := c.stage(stage).Message; !strings.Contains(got, words) {
			t.Errorf("%s: %q, want %q in it", stage, got, words)
		}
	}
	checkPlugin(t, env, "--strict", "--skip", "host", dir).holds(t, 7, "stop warning no-controller")

	t.Run("another Python", func(t *testing.T) {
		// This Python has grpcio, but not the SDK.
		c := checkPlugin(t, env, "--python", runnertest.GRPCIO(t), dir)
		c.holds(t, 5, "launch failure import-missing")
		if got := c.stage("launch").Message; !strings.Contains(got, "mmsdk") {
			t.Errorf("launch: %q, want mmsdk in it", got)
		}
	})
	t.Run("without manifest", func(t *testing.T) {
		if err := os.Remove(filepath.Join(dir, "plugin.json")); err != nil {
			t.Fatal(err)
		}
		plugin := filepath.Join(dir, "server", "plugin.py")
		c := checkPlugin(t, append(env, "PYPLUG_PYTHON="+python), "--cookie", "MATTERMOST_PLUGIN=Securely message teams, anywhere.", "--skip", "host", plugin)
		c.holds(t, 0, "stop warning no-controller")
		if got := c.stage("plugin").Message; c.Transport != "grpc" || !strings.Contains(got, "--cookie") {
			t.Errorf("transport %q: %q, want it to be known by the cookie", c.Transport, got)
		}
	})
}
