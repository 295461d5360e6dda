//go:build unix

package commands_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pyplug/pyplug/runner/runnertest"
)

// BenchmarkFigurePython compares python find, python list and sync with pyplug version and with uv,
// venv and pyenv. sync makes a new environment each time, with a package that is in the installer's
// cache.
//
//	go test -run '^$' -bench FigurePython -benchtime 20x ./commands
func BenchmarkFigurePython(b *testing.B) {
	pyplug, python := binary(b), runnertest.Python(b)
	uv := filepath.Join(filepath.Dir(runnertest.Packages(b, "uv==0.13.9")), "uv")
	dir, tools := b.TempDir(), b.TempDir()
	plain, script, venv := filepath.Join(dir, "plain.py"), filepath.Join(dir, "script.py"), filepath.Join(b.TempDir(), ".venv")
	for path, text := range map[string]string{plain: "", script: "# /// script\n# dependencies = [\"iniconfig==2.1.0\"]\n# ///\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.Symlink(uv, filepath.Join(tools, "uv")); err != nil {
		b.Fatal(err)
	}
	b.Setenv("UV_CACHE_DIR", filepath.Join(b.TempDir(), "uv"))
	withUV := tools + ":" + filepath.Dir(python) + ":/usr/bin:/bin"
	remove := "rm -rf " + venv + " " + filepath.Join(dir, ".venv") + "; "
	sync := []string{pyplug, "sync", "-q", "--python", python, script}
	fresh := []string{"sh", "-c", remove + pyplug + " sync -q --python " + python + " " + script}
	version := []string{pyplug, "version"}
	for _, c := range []struct {
		name, path string
		a, b       []string
	}{
		{"find/version", withUV, []string{pyplug, "python", "find", plain}, version},
		{"find/uv", withUV, []string{pyplug, "python", "find", plain}, []string{uv, "python", "find", "--directory", dir}},
		{"find/shim", os.Getenv("PATH"), []string{pyplug, "python", "find", plain}, []string{filepath.Join(os.Getenv("PYENV_ROOT"), "shims", "python3"), "-V"}},
		{"list/version", withUV, []string{pyplug, "python", "list"}, version},
		{"list/uv", withUV, []string{pyplug, "python", "list"}, []string{uv, "python", "list", "--only-installed"}},
		{"sync/uv", withUV, fresh, []string{"sh", "-c", remove + uv + " venv -q " + venv + " && " + uv + " pip install -q --python " + venv + " iniconfig==2.1.0"}},
		{"sync/venv", withUV, fresh, []string{"sh", "-c", remove + python + " -m venv " + venv}},
		{"sync/pip", filepath.Dir(python) + ":/usr/bin:/bin", fresh,
			[]string{"sh", "-c", remove + python + " -m venv " + venv + " && " + venv + "/bin/python -m pip install -q iniconfig==2.1.0"}},
		{"again/uv", withUV, sync, []string{uv, "pip", "install", "-q", "--python", filepath.Join(dir, ".venv"), "iniconfig==2.1.0"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			if _, err := os.Stat(c.b[0]); filepath.IsAbs(c.b[0]) && err != nil {
				b.Skip(err)
			}
			b.Setenv("PATH", c.path)
			timed(b, 0, sync[0], sync[1:]...)
			timed(b, 0, c.b[0], c.b[1:]...)
			var as, bs []time.Duration
			for b.Loop() {
				as, bs = append(as, timed(b, 0, c.a[0], c.a[1:]...)), append(bs, timed(b, 0, c.b[0], c.b[1:]...))
			}
			report(b, "ms", median(as))
			report(b, "ms-over", median(as)-median(bs))
			b.ReportMetric(float64(median(as))/float64(median(bs)), "x")
			b.ReportMetric(0, "ns/op")
		})
	}
}
