package check

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/mcp"
	"github.com/pyplug/pyplug/runner/schema"
)

// mcp lists the tools that an LLM client gets, and reports their oddities.
func (c *check) mcp(ctx context.Context) hook.Stage {
	if err := c.s.MCPServer(); err != nil {
		return failed(c.fail(mcpServer, err))
	}
	if !c.s.Running() {
		return hook.Stage{Verdict: hook.Skipped, Message: "the plugin has exited"}
	}
	filter := mcp.Filter{Hints: mcp.Hints(c.s.Plugin.Manifest.MCP)}
	tools, list, err := mcp.Ask(ctx, c.s, filter)
	if err != nil {
		return failed(c.failAs(hook.Request, mcpFailed, err))
	}
	st := hook.Stage{Message: "a client sees " + schema.Plural(len(tools), "tool"), Details: map[string]any{"tools": list}}
	if len(tools) == 0 {
		return failed(found(noTools, hook.Warning, "a client sees no tools"))
	}
	for _, t := range tools {
		st.Lines = append(st.Lines, strings.TrimSuffix(t.Name+": "+t.Hook.Doc, ": "), "  "+string(t.Input))
		if t.Output != nil {
			st.Lines = append(st.Lines, "  -> "+string(t.Output))
		}
		if t.Name != t.Hook.Name {
			st.Findings = append(st.Findings, found(toolRenamed, hook.Note, fmt.Sprintf("%s is renamed to the tool %s", t.Hook.Name, t.Name)))
		}
		for _, r := range t.Refusals() {
			verdict := hook.Warning
			if r.Some {
				verdict = hook.Note
			}
			st.Findings = append(st.Findings, found(toolRefused, verdict, fmt.Sprintf("%s: %s (refused by %s)", t.Name, r.Problem, r.Client)))
		}
		for _, p := range withoutSchema(t.Hook) {
			st.Findings = append(st.Findings, found(schemaMissing, hook.Note, fmt.Sprintf("%s: %s has no schema", t.Hook.Name, p)))
		}
	}
	return st
}

// withoutSchema lists the annotated parameters whose schema accepts any value.
func withoutSchema(h schema.Hook) (params []string) {
	var input struct {
		Properties map[string]map[string]any
	}
	_ = json.Unmarshal(h.Input, &input) // an unreadable schema counts as one without properties
	for _, p := range h.Params {
		isAny := slices.Contains([]string{"", "Any", "typing.Any", "object"}, p.Type)
		if !isAny && mcp.IsAnything(input.Properties[p.Name]) && p.Kind != schema.VarNames {
			params = append(params, p.String())
		}
	}
	return params
}
