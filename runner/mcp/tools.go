package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pyplug/pyplug/runner/schema"
)

// longestName is the longest name of a tool that clients accept.
const longestName = 64

var unusual = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// Tool is a hook as clients see it.
type Tool struct {
	Name string
	Hook schema.Hook
	// Output is the JSON Schema of the result; nil if the tool has none.
	Output json.RawMessage

	json json.RawMessage // in the list
}

// Hints describes the behaviour of hooks by patterns of their names. A client may ask its user
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
	var tools []Tool
	taken := map[string]bool{}
	for _, h := range hooks {
		if len(f.Only) > 0 && !matches(f.Only, h.Name) || matches(f.Except, h.Name) || h.Streams == "in" || h.Streams == "both" {
			continue
		}
		t := Tool{Name: freeName(h.Name, taken), Hook: h}
		taken[t.Name] = true
		pairs := []any{"name", t.Name}
		if doc := cmp.Or(h.Documentation, h.Doc); doc != "" {
			pairs = append(pairs, "description", doc)
		}
		input := h.Input
		if input == nil { // its source does not show the parameters
			input = json.RawMessage(`{"type":"object"}`)
		}
		pairs = append(pairs, "inputSchema", input)
		if matches(f.Hints.OutputSchema, h.Name) {
			t.Output = h.Output
		}
		if t.Output != nil {
			pairs = append(pairs, "outputSchema", t.Output)
		}
		if hints := f.Hints.of(h.Name); len(hints) > 0 {
			pairs = append(pairs, "annotations", object(hints...))
		}
		t.json = object(pairs...)
		tools = append(tools, t)
	}
	return tools
}

// freeName returns the name of a tool for a hook.
func freeName(hookName string, taken map[string]bool) string {
	base := unusual.ReplaceAllString(hookName, "_")
	name := base[:min(len(base), longestName)]
	for n := 2; taken[name]; n++ {
		suffix := fmt.Sprintf("_%d", n)
		name = base[:min(len(base), longestName-len(suffix))] + suffix
	}
	return name
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name) // the patterns were checked
		return ok
	})
}

// of returns the annotations of a tool. Clients assume Destructive and OpenWorld by default. If
// these have patterns, each tool says whether it matches.
func (h Hints) of(name string) (pairs []any) {
	for _, hint := range []struct {
		key      string
		patterns []string
		both     bool
	}{
		{"readOnlyHint", h.ReadOnly, false},
		{"destructiveHint", h.Destructive, true},
		{"idempotentHint", h.Idempotent, false},
		{"openWorldHint", h.OpenWorld, true},
	} {
		if is := matches(hint.patterns, name); is || hint.both && hint.patterns != nil {
			pairs = append(pairs, hint.key, is)
		}
	}
	return pairs
}

// listOf returns the tools as a JSON array.
func listOf(tools []Tool) json.RawMessage {
	texts := make([][]byte, len(tools))
	for i, t := range tools {
		texts[i] = t.json
	}
	return slices.Concat([]byte("["), bytes.Join(texts, []byte(",")), []byte("]"))
}

// names lists the names of tools.
func names(tools []Tool) string {
	var list []string
	for _, t := range tools {
		list = append(list, t.Name)
	}
	return strings.Join(list, ", ")
}
