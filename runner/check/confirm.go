package check

import (
	"errors"
	"slices"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// A program may make modules in ways that its source does not show. So what the stage
// source says of imports is held back until the plugin was started: a start that fails by
// an import confirms it, and any other makes it a note.

// unconfirmed are the findings that a start confirms.
var unconfirmed = []string{importMissing, protobufTooOld, protobufTooNew, grpcioTooOld}

// needsConfirmation reports whether a stage has such findings, and no syntax error, which
// makes a start needless.
func needsConfirmation(st hook.Stage) bool {
	some := false
	for _, f := range st.Findings {
		if f.ID == syntaxError && f.Verdict == hook.Failure {
			return false
		}
		some = some || f.Verdict >= hook.Warning && slices.Contains(unconfirmed, f.ID)
	}
	return some
}

// confirm adds the held stage to the report, once the stage launch is over, and returns
// what to report of that.
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
			if !slices.Contains(unconfirmed, f.ID) {
				continue
			}
			if f.Verdict = hook.Note; f.ID == importMissing {
				f.ID = importUnsure
			}
			f.Message += "; the plugin started without it"
		}
		source.Verdict, source.Message = hook.OK, "it compiles; some of its imports were not found"
		source = withVerdict(source)
	}
	c.done(source)
	return launch
}

// failedByImport reports whether the start failed by an import.
func (c *check) failedByImport() bool {
	missing := (*schema.MissingModuleError)(nil)
	if c.fault == nil || c.faultAt != stageLaunch {
		return false
	}
	return errors.As(c.fault, &missing) || c.fault.Python != nil
}
