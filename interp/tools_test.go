package interp

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pyplug/pyplug/runner/hook"
)

// TestPoetryName checks that an environment gets the same name as in poetry.
func TestPoetryName(t *testing.T) {
	f := newFinder(Request{Environ: []string{"HOME=/home/u"}})
	p := project{root: "/home/u/my proj"}
	p.Project.Name = "My_proj"
	const want = "/my-proj-NLwqEe48-py"
	if got := f.poetryEnvs(p); !strings.HasSuffix(got[len(got)-1], want) {
		t.Errorf("got %q, want %s", got, want)
	}
}

// TestKept checks that an environment that a tool keeps elsewhere is found for the tool's projects.
func TestKept(t *testing.T) {
	opt := base("opt")
	for _, c := range []findCase{
		{name: "uv", tree: lines(opt, venv("e", "opt", "3.12"), []string{"f plug/uv.lock x"}), environ: []string{"UV_PROJECT_ENVIRONMENT=../e"},
			want: "e/bin/python 3.12.4 uv's environment of the project"},
		{name: "uv, not its project", tree: lines(opt, venv("e", "opt", "3.12")), environ: []string{"UV_PROJECT_ENVIRONMENT=../e"}, want: "opt/bin/python3 3.12.4 PATH"},
		{name: "pdm", tree: lines(opt, venv("e", "opt", "3.12"), []string{"f plug/.pdm-python $ROOT/e/bin/python\\n"}), want: "e/bin/python 3.12.4 pdm's environment of the project"},
		{name: "uv, the root of the workspace", tree: lines(opt, venv(".venv", "opt", "3.12"), []string{
			`f plug/pyproject.toml [project]\n`, `f pyproject.toml [project]\nname = "w"\n[tool.uv.workspace]\n`}),
			want: ".venv/bin/python 3.12.4 .venv of the project"},
		{name: "a pyproject.toml that is none", tree: lines(opt, []string{"f plug/pyproject.toml [tool.poetry"}), want: "opt/bin/python3 3.12.4 PATH"},
	} {
		c.environ = append([]string{"PATH=$ROOT/opt/bin", "HOME=$ROOT/home", "XDG_CACHE_HOME=$ROOT/cache"}, c.environ...)
		t.Run(c.name, c.run)
	}
}

// TestNoHome checks that without a home directory no kept environment is found, in particular not
// in the working directory.
func TestNoHome(t *testing.T) {
	c := findCase{tree: lines(base("opt"), venv("work/-py3.12", "opt", "3.12"), []string{"f plug/poetry.lock x", "f plug/pdm.lock x"})}
	c.entry, c.environ = "plug/p.py", []string{"PATH=$ROOT/opt/bin", "XDG_CACHE_HOME=relative"}
	root := c.make(t)
	t.Chdir(filepath.Join(root, "work"))
	if found, err := Find(t.Context(), c.request(root)); err != nil || found.Source != SourcePath {
		t.Errorf("got %v, %v", found, err)
	}
}

// TestToolRuns checks the note about a tool whose environments pyplug does not look for. There is
// no note if the project has an environment or one is active.
func TestToolRuns(t *testing.T) {
	opt := base("opt")
	for _, c := range []struct {
		findCase
		tool, run string // the tool and command in the note; both are empty if no note is expected
	}{
		{findCase{name: "pipenv", tree: []string{"f plug/Pipfile x"}}, "pipenv", "pipenv run"},
		{findCase{name: "pdm", tree: []string{"f plug/pdm.lock x"}}, "pdm", "pdm run"},
		{findCase{name: "pdm, gone", tree: []string{"f plug/.pdm-python $ROOT/gone/bin/python"}}, "pdm", "pdm run"},
		{findCase{name: "hatch", tree: []string{"f plug/hatch.toml x"}}, "hatch", "hatch run"},
		{findCase{name: "hatch, in pyproject.toml", tree: []string{"f plug/pyproject.toml [tool.hatch.envs.default]"}}, "hatch", "hatch run"},
		{findCase{name: "hatch builds it", tree: []string{"f plug/pyproject.toml [tool.hatch.build]"}}, "", ""},
		{findCase{name: "pixi", tree: []string{"f pixi.toml x"}}, "pixi", "pixi run"},
		{findCase{name: "pixi's is not searched", tree: lines(venv("plug/.pixi/envs/default", "opt", "3.12"), []string{"f plug/pixi.toml x"})}, "pixi", "pixi run"},
		{findCase{name: "rye", tree: []string{"f plug/pyproject.toml [tool.rye]"}}, "rye", "rye run"},
		{findCase{name: "mise", tree: []string{`f plug/mise.toml [env]\n_.python.venv = "e"`}}, "mise", "mise exec --"},
		{findCase{name: "mise, without an environment", tree: []string{"f plug/mise.toml [tools]"}}, "", ""},
		{findCase{name: "beside it", tree: lines(venv("plug/.venv", "opt", "3.12"), []string{"f plug/Pipfile x"})}, "", ""},
		{findCase{name: "active", tree: lines(venv("e", "opt", "3.12"), []string{"f plug/Pipfile x"}), environ: []string{"VIRTUAL_ENV=$ROOT/e"}}, "", ""},
		{findCase{name: "active by pixi", tree: lines(venv("e/envs/default", "opt", "3.12"), []string{"f plug/pixi.toml x"}),
			environ: []string{"CONDA_PREFIX=$ROOT/e/envs/default", "CONDA_DEFAULT_ENV=p"}}, "", ""},
		{findCase{name: "named", tree: []string{"f plug/Pipfile x"}, flag: "../opt"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.tree, c.environ = lines(opt, c.tree), append(c.environ, "PATH=$ROOT/opt/bin", "HOME=$ROOT/home")
			_, found, err := search(t, c.findCase)
			check(t, err)
			tool, fix := "", ""
			for _, a := range found.Skipped {
				tool, fix = string(a.Source), hook.Word(a.Fix)
			}
			if tool != c.tool || !strings.HasPrefix(fix, "run `"+c.run) && c.run != "" {
				t.Errorf("got %q, %q, want %q, %q", tool, fix, c.tool, c.run)
			}
		})
	}
}

// TestAppleStub checks that the Python of Apple's developer tools is found by reading files,
// because the stub of macOS opens a window if they are missing.
func TestAppleStub(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the trees are shaped as on Unix")
	}
	tools := func(dir, minor string) []string {
		python := dir + "/Library/Frameworks/Python3.framework/Versions/" + minor
		return []string{"l " + dir + "/usr/bin/python3 $ROOT/" + python + "/bin/python3", "l " + python + "/bin/python3 python" + minor,
			"x " + python + "/bin/python" + minor, "f " + python + "/include/python" + minor + "/patchlevel.h #define PY_VERSION \"" + minor + ".6\"\n"}
	}
	const own, xcode = "Library/Developer/CommandLineTools", "Applications/Xcode.app/Contents/Developer"
	for name, c := range map[string]struct {
		tree []string
		dir  string // the value of DEVELOPER_DIR
		want string
	}{
		"none":     {nil, "", "/usr/bin/python3 is a stub that starts no python: Apple's developer tools are not installed"},
		"tools":    {tools(own, "3.9"), "", own + "/usr/bin/python3 3.9.6"},
		"both":     {lines(tools(own, "3.9"), tools(xcode, "3.10")), "", xcode + "/usr/bin/python3 3.10.6"},
		"selected": {lines(tools(own, "3.9"), tools(xcode, "3.10"), []string{"l var/db/xcode_select_link $ROOT/" + own}), "", own + "/usr/bin/python3 3.9.6"},
		"variable": {lines(tools(own, "3.9"), tools(xcode, "3.10")), own, own + "/usr/bin/python3 3.9.6"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, append(c.tree, "d work")...)
			vars := map[string]string{}
			if c.dir != "" {
				vars["DEVELOPER_DIR"] = filepath.Join(root, c.dir)
			}
			f := newFinder(Request{Cwd: filepath.Join(root, "work"), systemRoot: root})
			if broken := f.readRequirements(); broken != nil {
				t.Fatal(broken)
			}
			found, broken := f.stub(appleStub, developerPython(root, vars), SourcePath)
			got := found.Path + " " + found.Version.String()
			if broken != nil {
				got = broken.Path + " " + broken.Reason
			}
			if got = strings.TrimPrefix(got, root+"/"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
