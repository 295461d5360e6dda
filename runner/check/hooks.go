package check

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// hooks lists the hooks, and makes the requested calls.
func (c *check) hooks(ctx context.Context) hook.Stage {
	switch {
	case c.faultAt == stageHooks:
		return failed(c.bootstrapFailed())
	case c.s.Running():
	case c.crashed():
		return hook.Stage{Verdict: hook.Skipped, Message: "the plugin has exited"}
	default:
		return failed(c.gone())
	}
	sch, err := c.s.Hooks(ctx, schema.Query{})
	if err != nil {
		return failed(c.undescribed(err))
	}
	var names []string
	for _, h := range sch.Hooks {
		names = append(names, h.Name)
	}
	st := hook.Stage{Findings: unresolved(sch.Hooks), Message: counted(names), Details: map[string]any{"hooks": names}}
	if len(names) == 0 {
		delete(st.Details, "hooks")
		f := found(noHooks, hook.Warning, "the plugin has no hooks", append([]string{"define a public function in the file"}, hook.Words(c.s.ProgramHint())...)...)
		if c.s.GRPC() != nil {
			f.Message = "its methods are unknown: neither server reflection nor an imported *_pb2.py describes them"
			f.Fix = []string{"describe them with --proto or --protoset, or serve grpcio-reflection in the plugin"}
		}
		st.Message = f.Message
		st.Findings = append(st.Findings, f)
	}
	c.calls(ctx, &st)
	return st
}

// unresolved returns notes about parameters whose arguments are not converted.
func unresolved(hooks []schema.Hook) (notes []hook.Finding) {
	for _, h := range hooks {
		for _, p := range h.Params {
			if p.Unresolved != "" {
				text := fmt.Sprintf("%s: arguments for %s are not converted: %s", h.Name, p.Name, p.Unresolved)
				notes = append(notes, found(annotationUnresolved, hook.Note, text))
			}
		}
	}
	return notes
}

// undescribed returns the finding that says why the hooks are unknown. For a gRPC plugin it is a
// warning, because hosts of go-plugin do not ask for a description. If the description contradicts
// itself, it is a failure, because pyplug cannot make calls.
func (c *check) undescribed(err error) hook.Finding {
	switch kind := hook.AsError(err).Kind; {
	case kind == hook.Crash || kind == hook.Unavailable:
		return c.gone()
	case kind == hook.Request || c.s.GRPC() == nil:
		return c.failAs(hook.Request, hooksUnknown, err)
	}
	f := c.fail(hooksUnknown, err)
	f.Verdict = hook.Warning
	return f
}

// bootstrapFailed returns the finding about a failed bootstrap call.
func (c *check) bootstrapFailed() hook.Finding {
	f := c.fail(c.faultID, c.fault)
	f.Message = strings.TrimRight("bootstrap "+c.fault.Hook, " ") + ": " + f.Message
	if len(f.Fix) == 0 {
		f.Fix = []string{"fix the hook or the bootstrap call in " + filepath.Base(c.s.Plugin.Manifest.File)}
	}
	return f
}

// counted returns the number of hooks and the names of the first ones.
func counted(hooks []string) string {
	const most = 4
	text := schema.Plural(len(hooks), "hook") + ": " + strings.Join(hooks[:min(most, len(hooks))], ", ")
	if len(hooks) > most {
		text += ", …"
	}
	return text
}

// calls makes the requested calls, each with the timeout of a call.
func (c *check) calls(ctx context.Context, st *hook.Stage) {
	var made []map[string]any
	for _, call := range c.o.Calls {
		result, err := c.s.Call(ctx, call)
		if err != nil {
			f := c.fail(callFailed, err)
			f.Message = call.Hook + ": " + f.Message
			st.Findings = append(st.Findings, f)
			if f.Kind == hook.Crash || endsCheck(f.Err) {
				break
			}
			continue
		}
		st.Message += fmt.Sprintf("; %s answered after %s", call.Hook, schema.Span(result.Took))
		made = append(made, map[string]any{"hook": call.Hook, "took_ms": hook.Milliseconds(result.Took)})
	}
	if len(made) > 0 {
		st.Details["calls"] = made
	}
}
