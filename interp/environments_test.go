package interp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/interp"
	"github.com/pyplug/pyplug/runner/runnertest"
)

// TestEnvironments compares what files say about environments of several tools with the answers of
// their Pythons, and the chosen Python with uv's choice.
func TestEnvironments(t *testing.T) {
	python := runnertest.Packages(t, "virtualenv==20.29.3", "uv==0.13.9")
	uv := filepath.Join(filepath.Dir(python), "uv")
	for name, command := range map[string][]string{
		"venv":               {python, "-m", "venv", "--without-pip", ".venv"},
		"venv with packages": {python, "-m", "venv", "--without-pip", "--system-site-packages", ".venv"},
		"copies":             {python, "-m", "venv", "--without-pip", "--copies", ".venv"},
		"virtualenv":         {python, "-m", "virtualenv", "--no-seed", ".venv"},
		"uv":                 {uv, "venv", "--offline", "--python", python, ".venv"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			environ := []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "PYTHONNOUSERSITE=1", "UV_CACHE_DIR=" + filepath.Join(dir, "cache")}
			run := func(command ...string) string {
				cmd := exec.Command(command[0], command[1:]...)
				cmd.Dir, cmd.Env = dir, environ
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%q: %v\n%s", command, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			run(command...)
			d, err := interp.Explain(t.Context(), interp.Request{Dirs: []string{dir}, Cwd: dir, Environ: environ})
			if err != nil || d.Broken != nil {
				t.Fatal(err, d.Broken)
			}
			facts := interp.FactsOf(d.Chosen, environ)
			var packages []string
			for _, dir := range facts.Packages {
				packages = append(packages, string(dir))
			}
			got := strings.Join([]string{d.Chosen.Version.String(), d.Chosen.Implementation, string(facts.Prefix), string(facts.Base), strings.Join(packages, ":")}, "\n")
			says := run(d.Chosen.Path, "-c", `import sys, os
print("%d.%d.%d" % sys.version_info[:3], sys.implementation.name, sys.prefix, sys.base_prefix, sep="\n")
print(":".join(p for p in sys.path if p.endswith("-packages")))`)
			if got != says {
				t.Errorf("files say\n%s\nits Python says\n%s", got, says)
			}
			if found := run(uv, "python", "find", "--offline"); found != d.Chosen.Path && found+"3" != d.Chosen.Path && found != d.Chosen.Path+"3" {
				t.Errorf("got %s, uv finds %s", d.Chosen.Path, found)
			}
		})
	}
}
