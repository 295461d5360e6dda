package interp

import "github.com/pyplug/pyplug/runner/schema"

// Variable is an environment variable that affects Python, and its effect.
type Variable struct {
	Name   string      `json:"name"`
	Value  schema.Path `json:"value"`
	Effect string      `json:"effect"`
}

// pythonVariables are the variables of the caller that affect Python, with their effects.
var pythonVariables = []Variable{
	{Name: "PYPLUG_PYTHON", Effect: "names the Python, unless --python does"},
	{Name: "VIRTUAL_ENV", Effect: "is the activated environment"},
	{Name: "CONDA_PREFIX", Effect: "is the activated environment of conda"},
	{Name: "UV_PROJECT_ENVIRONMENT", Effect: "names the environment of a project of uv"},
	{Name: "POETRY_VIRTUALENVS_PATH", Effect: "says where poetry keeps environments"},
	{Name: "PYENV_VERSION", Effect: "selects what pyenv's shims start"},
	{Name: "PYTHONPATH", Effect: "kept: its directories come before the installed packages"},
	{Name: "PYTHONHOME"}, {Name: "PYTHONEXECUTABLE"}, {Name: "__PYVENV_LAUNCHER__"},
	{Name: "PYTHONSTARTUP"}, {Name: "PYTHONNOUSERSITE"}, {Name: "PYTHONUSERBASE"},
}

// Explained returns the variables of a caller that affect Python, with their effects. env is the
// environment of the plugin.
func Explained(caller, env []string) (all []Variable) {
	callers, plugins := Variables(caller), Variables(env)
	for _, v := range pythonVariables {
		v.Value = schema.Path(callers[v.Name])
		switch {
		case v.Value == "":
			continue
		case plugins[v.Name] == "" && (v.Effect == "" || v.Name == "PYTHONPATH"):
			v.Effect = "removed: it would lead Python elsewhere"
		case v.Effect == "":
			v.Effect = "kept"
		}
		all = append(all, v)
	}
	return all
}
