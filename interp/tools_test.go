package interp

import (
	"slices"
	"strings"
	"testing"
)

// The names under which tools keep environments are those that the tools make.
func TestToolNames(t *testing.T) {
	f := newFinder(Request{Environ: []string{"HOME=/home/u"}})
	p := project{root: "/home/u/my proj"}
	p.Project.Name = "My_proj"
	for name, want := range map[string]string{
		"poetry": "/my-proj-NLwqEe48-py*", "pipenv": "/home/u/.local/share/virtualenvs/my_proj-7LoSCobk",
		"pdm": "pdm/venvs/my proj-J3BW1nI9-*", "hatch": "hatch/env/virtual/my-proj/NLwqEe48/my-proj",
	} {
		i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name })
		got := tools[i].patterns(f, p)
		if last := got[len(got)-1]; !strings.HasSuffix(last, want) {
			t.Errorf("%s: got %s, want %s", name, last, want)
		}
	}
}

// What a tool keeps elsewhere for the project is found if the project is the tool's.
func TestKept(t *testing.T) {
	opt := base("opt")
	for _, c := range []findCase{
		{name: "uv", tree: lines(opt, venv("e", "opt", "3.12"), []string{"f plug/uv.lock x"}), environ: []string{"UV_PROJECT_ENVIRONMENT=../e"},
			want: "e/bin/python 3.12.4 uv's environment of the project"},
		{name: "uv, not its project", tree: lines(opt, venv("e", "opt", "3.12")), environ: []string{"UV_PROJECT_ENVIRONMENT=../e"}, want: "opt/bin/python3 3.12.4 PATH"},
		{name: "pipenv", tree: lines(opt, venv("w/mine", "opt", "3.12"), []string{"f plug/Pipfile x"}), environ: []string{"WORKON_HOME=$ROOT/w", "PIPENV_CUSTOM_VENV_NAME=mine"},
			want: "w/mine/bin/python 3.12.4 pipenv's environment of the project"},
		{name: "pdm", tree: lines(opt, venv("e", "opt", "3.12"), []string{"f plug/.pdm-python $ROOT/e/bin/python\\n"}), want: "e/bin/python 3.12.4 pdm's environment of the project"},
		{name: "virtualenvwrapper", tree: lines(opt, venv("w/e", "opt", "3.12"), []string{"f w/e/.project $ROOT/plug\\n"}), environ: []string{"WORKON_HOME=$ROOT/w"},
			want: "w/e/bin/python 3.12.4 virtualenvwrapper's environment of the project"},
		{name: "hatch, where its project says", tree: lines(opt, venv("h/e", "opt", "3.12"), []string{`f plug/hatch.toml [envs.default]\npath = "../h/e"\n`}),
			want: "h/e/bin/python 3.12.4 hatch's environment of the project"},
		{name: "hatch, where its user says", tree: lines(opt, venv("plug/.hatch/a-b", "opt", "3.12"), []string{
			`f plug/pyproject.toml [project]\nname = "A.b"\n[tool.hatch]\n`, `f home/.config/hatch/config.toml [dirs.env]\nvirtual = ".hatch"\n`}),
			want: "plug/.hatch/a-b/bin/python 3.12.4 hatch's environment of the project"},
		{name: "uv, the root of the workspace", tree: lines(opt, venv(".venv", "opt", "3.12"), []string{
			`f plug/pyproject.toml [project]\n`, `f pyproject.toml [project]\nname = "w"\n[tool.uv.workspace]\n`}),
			want: ".venv/bin/python 3.12.4 .venv of the project"},
		{name: "a pyproject.toml that is none", tree: lines(opt, []string{"f plug/pyproject.toml [tool.poetry"}), want: "opt/bin/python3 3.12.4 PATH"},
	} {
		c.environ = append(c.environ, "PATH=$ROOT/opt/bin", "HOME=$ROOT/home")
		t.Run(c.name, c.run)
	}
}
