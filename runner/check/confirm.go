package check

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// unconfirmed are the findings that a start confirms: a program may make modules in ways that its
// source does not show.
var unconfirmed = []string{importMissing, protobufTooOld, protobufTooNew, grpcioTooOld}

// confirm starts the plugin if the stage source has such findings, and no syntax error, which makes
// a start needless. Unless the start fails by an import, they become notes.
func (c *check) confirm(ctx context.Context, source hook.Stage) hook.Stage {
	isSyntax := func(f hook.Finding) bool { return f.ID == syntaxError && f.Verdict == hook.Failure }
	isUnconfirmed := func(f hook.Finding) bool {
		return f.Verdict >= hook.Warning && slices.Contains(unconfirmed, f.ID)
	}
	if !slices.ContainsFunc(source.Findings, isUnconfirmed) || slices.ContainsFunc(source.Findings, isSyntax) || slices.Contains(c.o.Skip, stageLaunch) {
		return source
	}
	began := time.Now()
	launch := c.launch(ctx)
	if launch.Took == 0 {
		launch.Took = time.Since(began)
	}
	c.started = &launch
	missing := (*schema.MissingModuleError)(nil)
	if ctx.Err() != nil || c.faultAt == stageLaunch && (errors.As(c.fault, &missing) || c.fault.Python != nil) && source.Verdict == hook.Failure {
		return source
	}
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
	return source
}
