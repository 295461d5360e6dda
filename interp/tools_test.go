package interp

import (
	"path/filepath"
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
	const fromPath, digest = "opt/bin/python3 3.12.4 PATH", "1217101aeceb6f24"
	script := func(name, prompt string) []string {
		env := "cache/uv/environments-v2/" + name
		return append(venv(env, "opt", "3.12"), "f "+env+`/pyvenv.cfg home = $ROOT/opt/bin\nprompt = `+prompt+`\n`,
			`f plug/My_plug.in.py #!/usr/bin/env -S uv run --script\n# /// script\n# ///\n`)
	}
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
		{name: "mise", tree: lines(opt, venv("plug/e/v", "opt", "3.12"), []string{`f plug/mise.toml [env]\n_.python.venv = "e/v"\n`}),
			want: "plug/e/v/bin/python 3.12.4 mise's environment beside the plugin"},
		{name: "mise, a table and a template", tree: lines(opt, venv("e/v", "opt", "3.12"), []string{"f .git x", `f .config/mise/config.toml [env]\n_.python.venv = { path = "{{config_root}}/e/v", create = true }\n`}),
			want: "e/v/bin/python 3.12.4 mise's environment of the project"},
		{name: "mise, which has not made it", tree: lines(opt, []string{`f plug/mise.toml [env]\n_.python.venv = "gone"\n`}), want: fromPath},
		{name: "mise, another template", tree: lines(opt, []string{`f plug/mise.toml [env]\n_.python.venv = "{{env.HOME}}/e"\n`}), want: fromPath},
		{name: "uv's of the script", tree: lines(opt, script("my-plug-in-"+digest, "My_plug.in.py")), entry: "plug/My_plug.in.py", want: "cache/uv/environments-v2/my-plug-in-" + digest + "/bin/python 3.12.4 uv's environment of the script"},
		{name: "uv's of another script", tree: lines(opt, script("my-plug-in-"+digest, "my-plug-in.py")), entry: "plug/My_plug.in.py", want: fromPath},
		{name: "uv's of two scripts", tree: lines(opt, script("my-plug-in-"+digest, "My_plug.in.py"), script("my-plug-in-"+digest[1:]+"0", "My_plug.in.py")), entry: "plug/My_plug.in.py", want: fromPath},
		{name: "uv's of a longer name", tree: lines(opt, script("my-plug-in-two-"+digest, "")), entry: "plug/My_plug.in.py", want: fromPath},
		{name: "uv's of another version", tree: lines(opt, script("my-plug-in-"+digest, "My_plug.in.py"), []string{"x a/python3.13"}), entry: "plug/My_plug.in.py", requires: []string{">=3.13 p.py"},
			environ: []string{"PATH=$ROOT/a"}, want: "a/python3.13 3.13 PATH"},
		{name: "a pyproject.toml that is none", tree: lines(opt, []string{"f plug/pyproject.toml [tool.poetry"}), want: "opt/bin/python3 3.12.4 PATH"},
	} {
		c.environ = append([]string{"PATH=$ROOT/opt/bin", "HOME=$ROOT/home", "XDG_CACHE_HOME=$ROOT/cache"}, c.environ...)
		t.Run(c.name, c.run)
	}
}

// Without a home directory no tool keeps anything, least of all where one stands.
func TestNoHome(t *testing.T) {
	c := findCase{tree: lines(base("opt"), venv("work/-py3.12", "opt", "3.12"), venv("work/-1217101aeceb6f24", "opt", "3.12"),
		[]string{"f plug/poetry.lock x", "f plug/Pipfile x", "f plug/pdm.lock x", "f plug/hatch.toml x", `f plug/p.py # /// script\n`})}
	c.entry, c.environ = "plug/p.py", []string{"PATH=$ROOT/opt/bin", "XDG_CACHE_HOME=relative"}
	root := c.make(t)
	t.Chdir(filepath.Join(root, "work"))
	if found, err := Find(t.Context(), c.request(root)); err != nil || found.Source != SourcePath {
		t.Errorf("got %v, %v", found, err)
	}
}
