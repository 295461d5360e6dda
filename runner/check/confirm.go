package check

import (
	"errors"
	"slices"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// What the source stage says of imports is told from files, and a program may make
// modules in ways that no file shows. So it is held back until the plugin was
// started: a start that fails by an import confirms it, and one that does not
// makes it a note.

// guesses are the findings that a start confirms.
var guesses = []string{importMissing, protobufTooOld, grpcioTooOld}

// guessed tells whether a stage has such findings, and none that makes a start
// needless.
func guessed(st hook.Stage) bool {
	some := false
	for _, f := range st.Findings {
		if f.ID == syntaxError && f.Verdict == hook.Failure {
			return false
		}
		some = some || f.Verdict >= hook.Warning && slices.Contains(guesses, f.ID)
	}
	return some
}

// confirm takes the held stage into the report, once it is known how the launch
// went, and returns what to say of the launch.
func (c *check) confirm(launch hook.Stage) hook.Stage {
	source := *c.held
	c.held = nil
	if c.ended == nil && launch.Verdict == hook.Failure && c.failedByImport() && source.Verdict == hook.Failure {
		c.done(source)
		c.lacking[stageLaunch] = c.lacking[stageSource]
		return hook.Stage{Name: launch.Name, Verdict: hook.Skipped, Message: c.lacking[stageSource]}
	}
	if c.ended == nil {
		source.Findings = slices.Clone(source.Findings)
		for i := range source.Findings {
			f := &source.Findings[i]
			if !slices.Contains(guesses, f.ID) {
				continue
			}
			if f.Verdict = hook.Note; f.ID == importMissing {
				f.ID = importUnsure
			}
			f.Message += "; it was started without"
		}
		source.Verdict, source.Message = hook.OK, "it compiles; not all that it imports was found"
		source = settled(source)
	}
	c.done(source)
	return launch
}

// failedByImport tells whether the start failed by an import.
func (c *check) failedByImport() bool {
	missing := (*schema.MissingModuleError)(nil)
	if c.fault == nil || c.faultAt != stageLaunch {
		return false
	}
	return errors.As(c.fault, &missing) || c.fault.Python != nil
}
