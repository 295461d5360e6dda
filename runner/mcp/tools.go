package mcp

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/hook"
	"github.com/pyplug/pyplug/runner/schema"
)

// longestName is the length of the longest tool name that clients accept.
const longestName = 64

// Tool is a hook as clients see it.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Input is the JSON Schema of the arguments. Output is the schema of the result, or nil if the
	// tool has none.
	Input       json.RawMessage `json:"inputSchema"`
	Output      json.RawMessage `json:"outputSchema,omitempty"`
	Annotations annotations     `json:"annotations,omitzero"`
	Hook        schema.Hook     `json:"-"`
}

// annotations are the [Hints] for one tool. Clients assume that a tool is destructive and in an
// open world, unless it says otherwise.
type annotations struct {
	ReadOnly    bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// Hints describes the behavior of hooks with patterns of their names. A client may ask its user
// less often about a tool that only reads. Hooks that match OutputSchema have a schema of their
// result, if it is an object.
type Hints struct {
	ReadOnly, Destructive, Idempotent, OpenWorld, OutputSchema []string
}

// Filter says which hooks are tools.
type Filter struct {
	// Only and Except are patterns of names, such as "get_*". Without Only, all hooks are tools.
	Only, Except []string
	Hints        Hints
}

// Tools returns the hooks as tools, in the same order. Each name is unique, and clients accept it.
// Methods with a client stream are not tools.
func (f Filter) Tools(hooks []schema.Hook) []Tool {
	tools := []Tool{}
	taken := map[string]bool{}
	for _, h := range hooks {
		if len(f.Only) > 0 && !matches(f.Only, h.Name) || matches(f.Except, h.Name) || h.Streams == "in" || h.Streams == "both" {
			continue
		}
		t := Tool{Name: schema.FreeName(schema.SafeName(h.Name, "-"), longestName, taken), Description: cmp.Or(h.Documentation, h.Doc), Input: h.Input, Annotations: f.Hints.of(h.Name), Hook: h}
		taken[t.Name] = true
		if matches(f.Hints.OutputSchema, h.Name) {
			t.Output = h.Output
		}
		tools = append(tools, t)
	}
	return tools
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name) // the patterns were checked before
		return ok
	})
}

// of returns the annotations of a tool.
func (h Hints) of(name string) annotations {
	either := func(patterns []string) *bool {
		if patterns == nil {
			return nil
		}
		return new(matches(patterns, name))
	}
	return annotations{matches(h.ReadOnly, name), either(h.Destructive), matches(h.Idempotent, name), either(h.OpenWorld)}
}

// listOf returns the tools as a JSON array.
func listOf(tools []Tool) json.RawMessage {
	text, _ := hook.Marshal(tools) // tools can always be encoded
	return text
}

// names lists the names of tools.
func names(tools []Tool) string {
	var list []string
	for _, t := range tools {
		list = append(list, t.Name)
	}
	return strings.Join(list, ", ")
}
