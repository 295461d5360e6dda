package service

import (
	"errors"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// complete adds to an error the information that only this process has: hints, the plugin's name,
// and that the cause may be an old file.
func (s *Service) complete(err error) *hook.Error {
	e, name := s.Complete(err), s.name
	if s.ready.Load() {
		e.Hints = forCaller(name, e.Hints)
	}
	if e.Reason == "gave-up" {
		e.Hints = append(e.Hints, schema.Hintf("run %s, or change its files and call it again", schema.Command{"restart", name}))
	}
	if e.Kind == hook.Request || e.Kind == hook.Failed || (e.Kind == hook.Start || e.Kind == hook.Interpreter) && s.SyncStale() != "" {
		for _, note := range s.notes(0) {
			e.Hints = append(e.Hints, schema.Hintf(note))
		}
	}
	return e
}

// forCaller completes hints that name a setting of the plugin. A caller must restart the running
// plugin to apply the setting.
func forCaller(name string, hints []schema.Hint) (all []schema.Hint) {
	newEnv := false
	for _, hint := range hints {
		newEnv = newEnv || hint.Has(func(arg any) bool { _, ok := arg.(schema.EnvLine); return ok })
		if hint.Has(func(arg any) bool { _, ok := arg.(schema.Setting); return ok }) {
			hint = schema.Hintf("%s; to apply it, %s", hint, startAgain(name))
		}
		all = append(all, hint)
	}
	if newEnv {
		all = append(all, schema.Hintf("%s, to use the environment that this makes", startAgain(name)))
	}
	return all
}

// startAgain says how to load new flags, another Python or a new manifest.
func startAgain(name string) string {
	return hook.Word(schema.Hintf("run %s, then start it again", schema.Command{"stop", name}))
}

// NoAttachError returns the error for a plugin that no other host can attach to.
func NoAttachError() error {
	return &hook.Error{Kind: hook.Usage, Err: errors.New("with mtls only pyplug has the key, so no other host can attach"),
		Hints: schema.Hints("remove %s, or set %[1]s=false if the manifest has mtls", schema.Setting("mtls"))}
}
