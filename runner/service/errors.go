package service

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner"
	"github.com/pyplug/pyplug/runner/hook"
)

// complete adds to an error what only this process knows: its hints, the plugin's name,
// and that the cause may be an old file.
func (s *Service) complete(err error) *hook.Error {
	e, name := s.host.Complete(err), s.name
	if s.ready.Load() {
		e.Hints = startedWith(name, e.Hints, s.host.StartFlags)
	}
	if e.Reason == "gave-up" {
		e.Hints = append(e.Hints, fmt.Sprintf("run `pyplug restart %s`, or change its files and call it again", name))
	}
	if e.Kind == hook.Request || e.Kind == hook.Failed || (e.Kind == hook.Start || e.Kind == hook.Interpreter) && s.opened.EnvChanged() != "" {
		e.Hints = append(e.Hints, s.notes(0)...)
	}
	return e
}

// startedWith completes hints that name a flag of start for a caller of the running plugin.
func startedWith(name string, hints, flags []string) []string {
	completed := slices.Clone(hints)
	for i, hint := range hints {
		words := strings.FieldsFunc(hint, notInFlag)
		if slices.ContainsFunc(flags, func(flag string) bool { return slices.Contains(words, "--"+flag) }) {
			completed[i] = hint + ": " + startAgain(name) + " with that"
		}
		if strings.Contains(hint, "pyplug sync ") || strings.Contains(hint, " -m venv ") {
			completed = append(completed, "to use the environment that this makes, run "+startAgain(name))
		}
	}
	return completed
}

// notInFlag reports whether a rune cannot be part of a flag's name.
func notInFlag(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }

// startAgain says how to load new flags, another Python or a new manifest.
func startAgain(name string) string {
	return fmt.Sprintf("`pyplug stop %s`, then start it again", name)
}

// NoAttachError is the error of a plugin that no other host can attach to.
func NoAttachError() error {
	return &hook.Error{Kind: hook.Usage, Err: errors.New("with mtls, pyplug alone has the key of the connection: no other host can attach"),
		Hints: []string{"remove --mtls, or set --mtls=false if the manifest has mtls"}}
}

// About names a plugin and its Python as errors do. version is what the running Python
// reported, empty if none runs.
func About(o *runner.Opened, path, version string) string {
	py := o.Interpreter()
	if py.Path == "" {
		return path
	}
	return fmt.Sprintf("%s (python %s, %s)", path, cmp.Or(version, py.Version.String()), cmp.Or(py.Env, py.Path))
}
